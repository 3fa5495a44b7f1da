#include "ops/random/distributions.h"
#include "ops/random/fill.h"
#include "ops/random/generator_state.h"
#include "ops/random/seeds.h"

namespace sluice {
namespace {

using random::ShapeFromInput;

// Where the numbers of a call come from. `shape_input` is where its shape is; `numbers` how many
// it takes.
struct SeedSource {
  static constexpr int kShapeInput = 0, kArguments = 2;
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t numbers) {
    return random::FromSeed(c.input(1));
  }
};
struct KeySource {
  static constexpr int kShapeInput = 0, kArguments = 4;
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t numbers) {
    return random::FromKeyAndCounter(c.input(1), c.input(2), c.input(3));
  }
};

absl::Status CheckScalar(const Tensor& t, int i) {
  if (t.rank() == 0) return absl::OkStatus();
  return InvalidArgument("input ", i, " (0-based) must have shape [], not ", t.shape().ToString());
}

struct StateSource {
  static constexpr int kShapeInput = 2, kArguments = 3;
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t numbers) {
    SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), 1));
    return TakeFromState(c, c.input(1).scalar<int64_t>(), 0, static_cast<uint64_t>(numbers));
  }
};
struct TaggedStateSource {
  static constexpr int kShapeInput = 1, kArguments = 2;
  static absl::StatusOr<Philox> Take(KernelContext& c, int64_t numbers) {
    return TakeFromState(c, 0, 1, static_cast<uint64_t>(numbers));
  }
};

// Whether an empty output still takes from its source: those with state do.
template <typename Source>
constexpr bool kTakesForNothing = Source::kShapeInput != 0;

template <template <typename> class D, typename Source>
struct Filled {
  template <typename T>
  static absl::Status Compute(KernelContext& c) {
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFromInput(c.input(Source::kShapeInput)));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    SLUICE_ASSIGN_OR_RETURN(const Philox start, Source::Take(c, shape.num_elements()));
    random::Fill(c, start, D<T>(), out->data<T>(), shape.num_elements());
    return absl::OkStatus();
  }
  template <typename T>
  using Kernel = FunctionKernel<&Compute<T>>;
};

// minval and maxval follow the source's inputs.
template <typename Source>
struct InRange {
  template <typename T>
  static absl::Status Compute(KernelContext& c) {
    const Tensor &low = c.input(Source::kArguments), &high = c.input(Source::kArguments + 1);
    for (const Tensor* t : {&low, &high}) {
      if (t->rank() != 0) {
        return InvalidArgument(t == &low ? "minval" : "maxval", " must be 0-D, got shape ",
                               t->shape().ToString());
      }
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFromInput(c.input(Source::kShapeInput)));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0 && !kTakesForNothing<Source>) return absl::OkStatus();
    if (low.scalar<T>() >= high.scalar<T>()) {
      return InvalidArgument("Need minval < maxval, got ", low.scalar<T>(),
                             " >= ", high.scalar<T>());
    }
    SLUICE_ASSIGN_OR_RETURN(const Philox start, Source::Take(c, shape.num_elements()));
    random::Fill(c, start, random::UniformRange<T>(low.scalar<T>(), high.scalar<T>()),
                 out->data<T>(), shape.num_elements());
    return absl::OkStatus();
  }
  template <typename T>
  using Kernel = FunctionKernel<&Compute<T>>;
};

template <typename T>
using Uniform = random::Uniform<T>;
template <typename T>
using Normal = random::Normal<T>;
template <typename T>
using TruncatedNormal = random::TruncatedNormal<T>;
template <typename T>
using Bits = random::UniformBits<T>;
using BitsList = TypeList<int32_t, int64_t, uint32_t, uint64_t>;

using UniformOfSeed = Filled<Uniform, SeedSource>;
using NormalOfSeed = Filled<Normal, SeedSource>;
using TruncatedNormalOfSeed = Filled<TruncatedNormal, SeedSource>;
using BitsOfSeed = Filled<Bits, SeedSource>;
KERNELS(StatelessRandomUniform, "dtype", UniformOfSeed::Kernel, FloatList);
KERNELS(StatelessRandomNormal, "dtype", NormalOfSeed::Kernel, FloatList);
KERNELS(StatelessTruncatedNormal, "dtype", TruncatedNormalOfSeed::Kernel, FloatList);
KERNELS(StatelessRandomUniformFullInt, "dtype", BitsOfSeed::Kernel, BitsList);
KERNELS(StatelessRandomUniformInt, "dtype", InRange<SeedSource>::Kernel, IndexList);

using UniformOfKey = Filled<Uniform, KeySource>;
using NormalOfKey = Filled<Normal, KeySource>;
using TruncatedNormalOfKey = Filled<TruncatedNormal, KeySource>;
using BitsOfKey = Filled<Bits, KeySource>;
KERNELS(StatelessRandomUniformV2, "dtype", UniformOfKey::Kernel, FloatList);
KERNELS(StatelessRandomNormalV2, "dtype", NormalOfKey::Kernel, FloatList);
KERNELS(StatelessTruncatedNormalV2, "dtype", TruncatedNormalOfKey::Kernel, FloatList);
KERNELS(StatelessRandomUniformFullIntV2, "dtype", BitsOfKey::Kernel, BitsList);
KERNELS(StatelessRandomUniformIntV2, "dtype", InRange<KeySource>::Kernel, IndexList);

using UniformOfState = Filled<Uniform, StateSource>;
using NormalOfState = Filled<Normal, StateSource>;
using NormalOfTaggedState = Filled<Normal, TaggedStateSource>;
using TruncatedNormalOfState = Filled<TruncatedNormal, StateSource>;
using BitsOfState = Filled<Bits, StateSource>;
KERNELS(StatefulUniform, "dtype", UniformOfState::Kernel, FloatList);
KERNELS(StatefulStandardNormal, "dtype", NormalOfTaggedState::Kernel, FloatList);
KERNELS(StatefulStandardNormalV2, "dtype", NormalOfState::Kernel, FloatList);
KERNELS(StatefulTruncatedNormal, "dtype", TruncatedNormalOfState::Kernel, FloatList);
KERNELS(StatefulUniformFullInt, "dtype", BitsOfState::Kernel, BitsList);
KERNELS(StatefulUniformInt, "dtype", InRange<StateSource>::Kernel, IndexList);

absl::Status RngSkip(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), 1));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(2), 2));
  return TakeFromState(c, c.input(1).scalar<int64_t>(), 0,
                       static_cast<uint64_t>(c.input(2).scalar<int64_t>()))
      .status();
}
KERNEL(RngSkip, FunctionKernel<RngSkip>);

absl::Status RngReadAndSkip(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), 1));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(2), 2));
  SLUICE_ASSIGN_OR_RETURN(const Philox before, TakeFromState(c, c.input(1).scalar<int32_t>(), 0,
                                                             c.input(2).scalar<uint64_t>()));
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, {3}, &out));
  out->data<int64_t>()[0] = static_cast<int64_t>(random::CounterOf(before).low);
  out->data<int64_t>()[1] = static_cast<int64_t>(random::CounterOf(before).high);
  out->data<int64_t>()[2] = static_cast<int64_t>(random::KeyOf(before));
  return absl::OkStatus();
}
KERNEL(RngReadAndSkip, FunctionKernel<RngReadAndSkip>);

}  // namespace
}  // namespace sluice
