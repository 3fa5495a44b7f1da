// The update loop of Adadelta.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void Adadelta(const UpdateCall<kAdadelta, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  T* accum_update = c.slot("accum_update");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T rho = c.scalar("rho");
  const T one_minus_rho = T(1) - rho;
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    accum[i] = accum[i] * rho + grad[i] * grad[i] * one_minus_rho;
    const T root = Sqrt(accum_update[i] + epsilon);
    const T update = root * ReciprocalSqrt(accum[i] + epsilon) * grad[i];
    var[i] = var[i] - update * lr;
    accum_update[i] = accum_update[i] * rho + update * update * one_minus_rho;
  }
}
UPDATE_KERNELS(Adadelta, 1.5, UpdateTypes);

}  // namespace
}  // namespace sluice
