#include <cmath>

#include "graph/infer/shape_context.h"
#include "ops/random/fill.h"
#include "ops/random/generator_state.h"
#include "ops/random/multinomial.h"
#include "ops/random/per_parameter.h"
#include "ops/random/seeds.h"
#include "ops/random/shuffle.h"

namespace sluice {
namespace {

using random::BroadcastIndex;

absl::Status CheckEndsWith(const TensorShape& shape, const TensorShape& end) {
  const int skip = shape.rank() - end.rank();
  if (skip >= 0 && shape.dims().subspan(skip) == end.dims()) return absl::OkStatus();
  return InvalidArgument("Shape passed in must end with broadcasted shape, got ", shape.ToString(),
                         " and ", end.ToString());
}

// The output for the shape in input 0; `parameters` are its last dimensions.
absl::StatusOr<Tensor*> AllocateSamples(KernelContext& c, const TensorShape& parameters) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, random::ShapeFromInput(c.input(0)));
  SLUICE_RETURN_IF_ERROR(CheckEndsWith(shape, parameters));
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
  return out;
}

template <void (*kFill)(KernelContext&, const Philox&, const Tensor&, Tensor*)>
absl::Status SamplesOfSeed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start, random::FromSeed(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, AllocateSamples(c, c.input(2).shape()));
  if (out->num_elements() > 0) kFill(c, start, c.input(2), out);
  return absl::OkStatus();
}
KERNEL(StatelessRandomGammaV2, FunctionKernel<SamplesOfSeed<random::FillGamma>>,
       {"dtype", FloatTypes()});

constexpr TypeSet kPoisson = {DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};
KERNEL(StatelessRandomPoisson, FunctionKernel<SamplesOfSeed<random::FillPoisson>>,
       {"Rtype", kPoisson}, {"dtype", kPoisson});

absl::Status GammaOfKey(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start,
                          random::FromKeyAndCounter(c.input(1), c.input(2), c.input(3)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, AllocateSamples(c, c.input(4).shape()));
  if (out->num_elements() > 0) random::FillGamma(c, start, c.input(4), out);
  return absl::OkStatus();
}
KERNEL(StatelessRandomGammaV3, FunctionKernel<GammaOfKey>, {"dtype", FloatTypes()});

// The shape that the inputs [first, last) broadcast to.
absl::StatusOr<TensorShape> BroadcastOf(KernelContext& c, int first, int last) {
  PartialShape shape = PartialShape::Scalar();
  for (int i = first; i < last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.input(i).shape()));
  }
  return TensorShape::Make(shape.dims());
}

// Whether count * p < 10 in the inputs' type.
bool IsSmall(DataType type, double count, double p) {
  switch (type) {
    case DT_HALF:
      return half(count) * half(p) < half(10);
    case DT_FLOAT:
      return static_cast<float>(count) * static_cast<float>(p) < 10;
    default:
      return count * p < 10;
  }
}

double OneMinus(DataType type, double p) {
  if (type == DT_HALF) return half(1) - half(p);
  return type == DT_FLOAT ? 1.0f - static_cast<float>(p) : 1 - p;
}

void FillBinomial(KernelContext& c, const Philox& start, const Tensor& counts, const Tensor& probs,
                  const TensorShape& parameters, Tensor* out) {
  const int64_t n = parameters.num_elements(), samples = out->num_elements() / n;
  const DataType type = counts.dtype();
  c.ParallelFor(out->num_elements(), 200, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t parameter = i / samples;
      const double count =
          random::NumberAt(counts, BroadcastIndex(counts.shape(), parameters, parameter));
      const double p =
          random::NumberAt(probs, BroadcastIndex(probs.shape(), parameters, parameter));
      const bool mirrored = p > 0.5;
      const double q = mirrored ? OneMinus(type, p) : p;
      double value;
      if (count <= 0 || p <= 0) {
        value = 0;
      } else if (p >= 1) {
        value = count;
      } else if (std::isnan(p)) {
        value = p;
      } else {
        const random::BinomialSampler draw(count, q, IsSmall(type, count, q));
        Philox own = start;
        own.Skip(draw.CallsBefore(i));
        value = mirrored ? count - draw(own) : draw(own);
      }
      random::SetNumberAt(*out, (i - parameter * samples) * n + parameter, value);
    }
  });
}

absl::Status BinomialOfSeed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start, random::FromSeed(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, BroadcastOf(c, 2, 4));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, AllocateSamples(c, parameters));
  if (out->num_elements() > 0) {
    FillBinomial(c, start, c.input(2), c.input(3), parameters, out);
  }
  return absl::OkStatus();
}
constexpr TypeSet kProbability = {DT_HALF, DT_FLOAT, DT_DOUBLE};
KERNEL(StatelessRandomBinomial, FunctionKernel<BinomialOfSeed>, {"T", kProbability},
       {"dtype", kPoisson});

absl::Status BinomialOfState(KernelContext& c) {
  if (c.input(1).rank() != 0) {
    return InvalidArgument("algorithm must be of shape [], not ", c.input(1).shape().ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, BroadcastOf(c, 3, 5));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, random::ShapeFromInput(c.input(2)));
  SLUICE_RETURN_IF_ERROR(CheckEndsWith(shape, parameters));
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
  const int64_t n = parameters.num_elements();
  const int64_t samples = n == 0 ? 0 : shape.num_elements() / n;
  SLUICE_ASSIGN_OR_RETURN(
      const Philox start,
      TakeFromState(c, c.input(1).scalar<int64_t>(), 0,
                    static_cast<uint64_t>(n) * 2 * 100 * static_cast<uint64_t>(samples + 3) / 4));
  if (shape.num_elements() > 0) {
    FillBinomial(c, start, c.input(3), c.input(4), parameters, out);
  }
  return absl::OkStatus();
}
KERNEL(StatefulRandomBinomial, FunctionKernel<BinomialOfState>, {"T", kProbability},
       {"dtype", kPoisson});

// Numbers come one after another, as TensorFlow draws them on one thread.
template <typename T>
absl::Status TruncatedNormalOfSeed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Philox generator, random::FromSeed(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape parameters, BroadcastOf(c, 2, 6));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, AllocateSamples(c, parameters));
  if (out->num_elements() == 0) return absl::OkStatus();
  const int64_t n = parameters.num_elements(), samples = out->num_elements() / n;
  for (int64_t p = 0; p < n; ++p) {
    auto at = [&](int i) {
      const Tensor& t = c.input(i);
      return t.data<T>()[BroadcastIndex(t.shape(), parameters, p)];
    };
    SLUICE_RETURN_IF_ERROR(random::FillTruncatedNormal<T>({at(2), at(3), at(4), at(5)}, &generator,
                                                          samples, n, out->data<T>() + p));
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(StatelessParameterizedTruncatedNormal, "dtype", TruncatedNormalOfSeed,
                 TypeList<half, float, double>);

absl::Status MultinomialOfSeed(KernelContext& c) {
  return random::DrawClasses(c, [&c](int64_t) { return random::FromSeed(c.input(2)); });
}
KERNEL(StatelessMultinomial, FunctionKernel<MultinomialOfSeed>, {"T", FloatTypes()});

absl::Status ShuffleOfKey(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox start,
                          random::FromKeyAndCounter(c.input(1), c.input(2), c.input(3)));
  return random::ShuffleRows(c, [&start](uint64_t) { return start; });
}
KERNEL(StatelessShuffle, FunctionKernel<ShuffleOfKey>);

// Key, counter and algorithm, as many of them as there are outputs.
absl::Status KeyAndCounter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox generator, random::FromSeed(c.input(0)));
  const random::CounterWords words = random::CounterOf(generator);
  c.set_output(0, Tensor::Vector<uint64_t>({random::KeyOf(generator)}));
  c.set_output(1, Tensor::Vector<uint64_t>({words.low, words.high}));
  if (c.num_outputs() > 2) {
    c.set_output(2, Tensor::Scalar(static_cast<int32_t>(random::kPhiloxAlgorithm)));
  }
  return absl::OkStatus();
}
using KeyAndCounterKernel = CheapFunctionKernel<KeyAndCounter>;
KERNEL(StatelessRandomGetKeyCounter, KeyAndCounterKernel);
KERNEL(StatelessRandomGetKeyCounterAlg, KeyAndCounterKernel);

absl::Status Algorithm(KernelContext& c) {
  c.set_output(0, Tensor::Scalar(static_cast<int32_t>(random::kPhiloxAlgorithm)));
  return absl::OkStatus();
}
using AlgorithmKernel = CheapFunctionKernel<Algorithm>;
KERNEL(StatelessRandomGetAlg, AlgorithmKernel);

}  // namespace
}  // namespace sluice
