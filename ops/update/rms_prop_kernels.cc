// The update loops of plain and centered RMSProp.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void RMSProp(const UpdateCall<kRMSProp, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* ms = c.slot("ms");
  T* mom = c.slot("mom");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T one_minus_rho = T(1) - c.scalar("rho");
  const T momentum = c.scalar("momentum");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    ms[i] = ms[i] + (grad[i] * grad[i] - ms[i]) * one_minus_rho;
    mom[i] = mom[i] * momentum + grad[i] * lr / Sqrt(epsilon + ms[i]);
    var[i] = var[i] - mom[i];
  }
}
UPDATE_KERNELS(RMSProp, 1.5, UpdateTypes);

template <typename T>
SLUICE_TARGET_CLONES void CenteredRMSProp(const UpdateCall<kCenteredRMSProp, T>& c, int64_t begin,
                                          int64_t end) {
  T* var = c.var();
  T* mg = c.slot("mg");
  T* ms = c.slot("ms");
  T* mom = c.slot("mom");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T one_minus_rho = T(1) - c.scalar("rho");
  const T momentum = c.scalar("momentum");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    ms[i] = ms[i] + (grad[i] * grad[i] - ms[i]) * one_minus_rho;
    mg[i] = mg[i] + (grad[i] - mg[i]) * one_minus_rho;
    const T variance = (ms[i] - mg[i] * mg[i]) + epsilon;
    mom[i] = mom[i] * momentum + grad[i] * lr / Sqrt(variance);
    var[i] = var[i] - mom[i];
  }
}
UPDATE_KERNELS(CenteredRMSProp, 1.5, UpdateTypes);

}  // namespace
}  // namespace sluice
