// Models over the fields of a click log.
#include "demos/recommenders/model.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

// The sum of one weight per word, and a linear function of the numbers: [batch, 1].
Output Linear(Tables& tables, const Features& in) {
  const Output words = ReduceSum(tables.LookupFields("weight", in.words, 1), {1});
  return words + layers::Dense(1, {.name = "linear"})(in.numbers);
}

// The numbers and all vectors side by side: [batch, kNumbers + kFields * kSize].
Output SideBySide(const Features& in, Output vectors) {
  return Concat({in.numbers, Reshape(vectors, {-1, kFields * kSize})}, 1);
}

}  // namespace

// Cheng et al. 2016.
Model WideAndDeep(Tables& tables, const Features& in) {
  const Output vectors = tables.LookupFields("vector", in.words, kSize);
  const Output deep = Mlp(SideBySide(in, vectors), {400, 400, 1});
  return Classify(in, Linear(tables, in) + deep);
}

// Naumov et al. 2019. The numbers become one more vector. The dot products of all pairs of vectors
// and that vector are the input of a network.
Model Dlrm(Tables& tables, const Features& in) {
  const Output bottom = Relu(Mlp(in.numbers, {512, 256, 64, kSize}));
  const Output vectors =
      Concat({ExpandDims(bottom, 1), tables.LookupFields("vector", in.words, kSize)}, 1);
  const Output products = BatchMatMulV2(vectors, vectors, {.adj_y = true});
  std::vector<int32_t> pairs;
  for (int32_t i = 0; i <= kFields; ++i) {
    for (int32_t j = 0; j < i; ++j) pairs.push_back(i * (kFields + 1) + j);
  }
  const Output distinct = Gather(Reshape(products, {-1, (kFields + 1) * (kFields + 1)}),
                                 Constant(tables.graph(), Tensor::Vector<int32_t>(pairs)), 1);
  return Classify(in, Mlp(Concat({bottom, distinct}, 1), {512, 256, 1}));
}

// Guo et al. 2017. The sum of the dot products of all pairs is ((sum of vectors)^2 - sum of
// squares) / 2.
Model DeepFm(Tables& tables, const Features& in) {
  const Output vectors = tables.LookupFields("vector", in.words, kSize);
  const Output squares = Square(ReduceSum(vectors, {1})) - ReduceSum(Square(vectors), {1});
  const Output pairs = 0.5f * ReduceSum(squares, {1}, {.keep_dims = true});
  return Classify(in, Linear(tables, in) + pairs + Mlp(SideBySide(in, vectors), {400, 400, 1}));
}

// Wang et al. 2021. A cross layer multiplies the input by a linear function of the layer before.
Model DcnV2(Tables& tables, const Features& in) {
  const Output x = SideBySide(in, tables.LookupFields("vector", in.words, kSize));
  Output crossed = x;
  for (int layer = 0; layer < 3; ++layer) {
    crossed = x * layers::Dense(kNumbers + kFields * kSize, {.name = "cross"})(crossed) + crossed;
  }
  return Classify(in, Mlp(Concat({crossed, Relu(Mlp(x, {400, 400}))}, 1), {1}));
}

}  // namespace sluice::recommenders
