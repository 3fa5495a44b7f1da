#include <random>

#include "ops/random/distributions.h"
#include "ops/random/fill.h"
#include "ops/random/sample_shape.h"
#include "ops/random/sources.h"

namespace sluice {
namespace {

using random::ShapeFromInput;

template <typename Source>
struct From {
  // Fills the output with random numbers of distribution D<T>.
  template <template <typename> class D>
  struct Fill {
    template <typename T>
    class Kernel : public sluice::Kernel {
     public:
      explicit Kernel(KernelInit& init) : source_(init) {}

      absl::Status Compute(KernelContext& c) override {
        SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                                ShapeFromInput(c.input(Source::kShapeInput)));
        SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
        SLUICE_ASSIGN_OR_RETURN(const Philox start, source_.Take(c, shape.num_elements()));
        random::Fill(c, start, D<T>(), out->data<T>(), shape.num_elements());
        return absl::OkStatus();
      }

     private:
      Source source_;
    };
  };

  // Fills the output with integers in [minval, maxval). These two inputs follow the inputs of the
  // source.
  template <typename T>
  class FillRange : public Kernel {
   public:
    explicit FillRange(KernelInit& init) : source_(init) {}

    absl::Status Compute(KernelContext& c) override {
      const Tensor &low = c.input(Source::kArguments), &high = c.input(Source::kArguments + 1);
      for (const Tensor* t : {&low, &high}) {
        SLUICE_INVALID_IF(t->rank() != 0, t == &low ? "minval" : "maxval",
                          " must be 0-D, got shape ", t->shape().ToString());
      }
      SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                              ShapeFromInput(c.input(Source::kShapeInput)));
      SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
      if (shape.num_elements() == 0 && !kTakesForNothing) return absl::OkStatus();
      SLUICE_INVALID_IF(low.scalar<T>() >= high.scalar<T>(), "Need minval < maxval, got ",
                        low.scalar<T>(), " >= ", high.scalar<T>());
      SLUICE_ASSIGN_OR_RETURN(const Philox start, source_.Take(c, shape.num_elements()));
      random::Fill(c, start, random::UniformRange<T>(low.scalar<T>(), high.scalar<T>()),
                   out->data<T>(), shape.num_elements());
      return absl::OkStatus();
    }

   private:
    // TensorFlow's ops on a generator variable check their inputs and read the variable even if the
    // output is empty.
    static constexpr bool kTakesForNothing = Source::kShapeInput != 0;
    Source source_;
  };
};

using random::Normal;
using random::TruncatedNormal;
using random::Uniform;
using random::UniformBits;
using BitsList = TypeList<int32_t, int64_t, uint32_t, uint64_t>;

KERNELS(RandomUniform, "dtype", From<NodeSource>::Fill<Uniform>::Kernel, FloatList);
KERNELS(RandomStandardNormal, "dtype", From<NodeSource>::Fill<Normal>::Kernel, FloatList);
KERNELS(TruncatedNormal, "dtype", From<NodeSource>::Fill<TruncatedNormal>::Kernel, FloatList);
KERNELS(RandomUniformInt, "Tout", From<NodeSource>::FillRange, IndexList);

using Seed = From<SeedSource>;
KERNELS(StatelessRandomUniform, "dtype", Seed::Fill<Uniform>::Kernel, FloatList);
KERNELS(StatelessRandomNormal, "dtype", Seed::Fill<Normal>::Kernel, FloatList);
KERNELS(StatelessTruncatedNormal, "dtype", Seed::Fill<TruncatedNormal>::Kernel, FloatList);
KERNELS(StatelessRandomUniformFullInt, "dtype", Seed::Fill<UniformBits>::Kernel, BitsList);
KERNELS(StatelessRandomUniformInt, "dtype", Seed::FillRange, IndexList);

using Key = From<KeySource>;
KERNELS(StatelessRandomUniformV2, "dtype", Key::Fill<Uniform>::Kernel, FloatList);
KERNELS(StatelessRandomNormalV2, "dtype", Key::Fill<Normal>::Kernel, FloatList);
KERNELS(StatelessTruncatedNormalV2, "dtype", Key::Fill<TruncatedNormal>::Kernel, FloatList);
KERNELS(StatelessRandomUniformFullIntV2, "dtype", Key::Fill<UniformBits>::Kernel, BitsList);
KERNELS(StatelessRandomUniformIntV2, "dtype", Key::FillRange, IndexList);

using State = From<StateSource>;
KERNELS(StatefulUniform, "dtype", State::Fill<Uniform>::Kernel, FloatList);
KERNELS(StatefulStandardNormal, "dtype", From<TaggedStateSource>::Fill<Normal>::Kernel, FloatList);
KERNELS(StatefulStandardNormalV2, "dtype", State::Fill<Normal>::Kernel, FloatList);
KERNELS(StatefulTruncatedNormal, "dtype", State::Fill<TruncatedNormal>::Kernel, FloatList);
KERNELS(StatefulUniformFullInt, "dtype", State::Fill<UniformBits>::Kernel, BitsList);
KERNELS(StatefulUniformInt, "dtype", State::FillRange, IndexList);

absl::Status NonDeterministicInts(KernelContext& context) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFromInput(context.input(0)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, shape));
  std::random_device device;
  auto* words = static_cast<uint32_t*>(out->raw());
  for (size_t i = 0; i < out->bytes() / sizeof(uint32_t); ++i) words[i] = device();
  return absl::OkStatus();
}
KERNEL(NonDeterministicInts, FunctionKernel<NonDeterministicInts>,
       {"dtype", TypeSet{DT_INT32, DT_INT64, DT_UINT32, DT_UINT64}});

}  // namespace
}  // namespace sluice
