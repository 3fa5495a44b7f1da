#include "ops/update/update_math.h"

namespace sluice {
namespace {

using enum ScalarSpec::Domain;

UpdateSpec FtrlSpec() {
  return {.slots = {"var", "accum", "linear"},
          .scalars = {{"lr", "lr is not a scalar: "},
                      {"l1", "l1 regularization strength is not a scalar: "},
                      {"l2", "l2 regularization strength is not a scalar: "},
                      {"lr_power", "lr_power is not a scalar"}},
          .cost = 3};
}

UpdateSpec FtrlV2Spec() {
  UpdateSpec spec = FtrlSpec();
  spec.scalars.push_back(
      {"l2_shrinkage", "l2 shrinkage regularization strength is not a scalar: "});
  return spec;
}

UpdateSpec SparseFtrlSpec() {
  UpdateSpec spec = FtrlSpec();
  spec.scalars = {{"lr", "lr is not a positive scalar (or zero if multiply_linear_by_lr is set): ",
                   kNonNegative},
                  {"l1", "l1 regularization strength is not a non-negative scalar: ", kNonNegative},
                  {"l2", "l2 regularization strength is not a non-negative scalar: ", kNonNegative},
                  {"lr_power", "lr_power is not a non-positive scalar: ", kNonPositive}};
  return spec;
}

UpdateSpec SparseFtrlV2Spec() {
  UpdateSpec spec = SparseFtrlSpec();
  spec.scalars.push_back(
      {"l2_shrinkage",
       "l2 shrinkage regularization strength is not a non-negative scalar: ", kNonNegative});
  return spec;
}

// The hyper-parameters, read once a shard.
template <typename T>
struct FtrlScalars {
  T lr, l1, l2, lr_power, shrinkage;
  bool root, by_lr;
};

template <typename T>
FtrlScalars<T> ReadScalars(const UpdateCall& c, bool shrinks) {
  return {c.scalar<T>(0),
          c.scalar<T>(1),
          c.scalar<T>(2),
          c.scalar<T>(3),
          shrinks ? c.scalar<T>(4) : T(0),
          c.scalar<T>(3) == T(-0.5),
          c.multiply_linear_by_lr};
}

// n^-lr_power.
template <typename T>
SLUICE_INLINE_IN_CLONES T Scale(const FtrlScalars<T>& s, T n) {
  return s.root ? Sqrt(n) : Power(n, -s.lr_power);
}

template <typename T>
SLUICE_INLINE_IN_CLONES void FtrlStep(const FtrlScalars<T>& s, T grad, T& var, T& accum,
                                      T& linear) {
  const T shrunk = grad + T(2) * s.shrinkage * var;
  const T n = accum + grad * grad;
  const T scale = Scale(s, n);
  const T sigma = scale - Scale(s, accum);
  if (s.by_lr) {
    linear = linear + shrunk * s.lr - sigma * var;
    const T bound = s.l1 * s.lr;
    var = (Clamp(linear, -bound, bound) - linear) / (scale + T(2) * s.l2 * s.lr);
  } else {
    linear = linear + shrunk - sigma / s.lr * var;
    var = (Clamp(linear, -s.l1, s.l1) - linear) / (scale / s.lr + T(2) * s.l2);
  }
  accum = n;
}

template <typename T>
SLUICE_TARGET_CLONES void Ftrl(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  T* linear = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const FtrlScalars<T> s = ReadScalars<T>(c, false);
  SLUICE_UPDATE_LOOP { FtrlStep(s, grad[i], var[i], accum[i], linear[i]); }
}

template <typename T>
SLUICE_TARGET_CLONES void FtrlV2(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  T* linear = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const FtrlScalars<T> s = ReadScalars<T>(c, true);
  SLUICE_UPDATE_LOOP { FtrlStep(s, grad[i], var[i], accum[i], linear[i]); }
}

SLUICE_UPDATE(Ftrl, FtrlSpec, Ftrl);
SLUICE_UPDATE(FtrlV2, FtrlV2Spec, FtrlV2);
SLUICE_UPDATE(SparseFtrl, SparseFtrlSpec, Ftrl);
SLUICE_UPDATE(SparseFtrlV2, SparseFtrlV2Spec, FtrlV2);

KERNELS(ApplyFtrl, "T", FtrlUpdate, FloatList);
KERNELS(ResourceApplyFtrl, "T", FtrlUpdate, FloatList);
KERNELS(SparseApplyFtrl, "T", SparseFtrlUpdate, FloatList);
KERNELS(ResourceSparseApplyFtrl, "T", SparseFtrlUpdate, FloatList);
KERNELS(ApplyFtrlV2, "T", FtrlV2Update, FloatList);
KERNELS(ResourceApplyFtrlV2, "T", FtrlV2Update, FloatList);
KERNELS(SparseApplyFtrlV2, "T", SparseFtrlV2Update, FloatList);
KERNELS(ResourceSparseApplyFtrlV2, "T", SparseFtrlV2Update, FloatList);

}  // namespace
}  // namespace sluice
