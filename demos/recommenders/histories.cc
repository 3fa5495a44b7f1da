// Models over the history of a user.
#include "demos/recommenders/model.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

// The vectors of a batch. An item's vector is that of its number and that of its category.
struct Vectors {
  Output user;     // [batch, kSize]
  Output item;     // [batch, 2 * kSize]
  Output past;     // [batch, kHistory, 2 * kSize]
  Output is_past;  // float [batch, kHistory]: 0 for padding
};

Vectors VectorsOf(Tables& tables, const Features& in) {
  const auto item = [&](Output items, Output categories, int axis) {
    return Concat({tables.Lookup("items", items, kItems, kSize),
                   tables.Lookup("categories", categories, kItemCategories, kSize)},
                  axis);
  };
  const Output none = Constant(tables.graph(), int64_t{0});
  return {.user = tables.Lookup("users", in.user, kUsers, kSize),
          .item = item(in.item, in.category, 1),
          .past = item(in.past_items, in.past_categories, 2),
          .is_past = Cast(GreaterEqual(in.past_items, none), DT_FLOAT)};
}

// The sum of the past vectors, each times its weight [batch, kHistory].
Output WeightedSum(Output past, Output weights) {
  return Squeeze(BatchMatMulV2(ExpandDims(weights, 1), past), {.squeeze_dims = {1}});
}

Output MeanOf(const Vectors& v) {
  return WeightedSum(v.past, v.is_past / ReduceSum(v.is_past, {1}, {.keep_dims = true}));
}

// Returns the relevance of each of `states` [batch, kHistory, width] for `item` [batch, width],
// from a network over both, their difference and product: [batch, kHistory].
Output Relevance(Output states, Output item) {
  const Output wide = ExpandDims(item, 1) + ZerosLike(states);
  const Output pairs = Concat({states, wide, states - wide, states * wide}, 2);
  return Squeeze(Mlp(pairs, {80, 40, 1}), {.squeeze_dims = {2}});
}

Output Predict(const Vectors& v, Output interest) {
  return Mlp(Concat({v.user, v.item, interest, v.item * interest}, 1), {200, 80, 1});
}

}  // namespace

// Deep interest network (Zhou et al. 2018).
Model Din(Tables& tables, const Features& in) {
  const Vectors v = VectorsOf(tables, in);
  const Output weights = Sigmoid(Relevance(v.past, v.item)) * v.is_past;
  return Classify(in, Predict(v, WeightedSum(v.past, weights)));
}

namespace {

// A GRU whose update gate is multiplied by an attention weight, the last number of the input. With
// g the next state of the GRU, h + a * (g - h) is the state for the gate a * u.
class AttentionGruCell : public layers::RnnCell {
 public:
  explicit AttentionGruCell(int64_t units) : gru_(units) {}
  std::string name() const override { return gru_.name(); }
  std::vector<int64_t> state_sizes() const override { return gru_.state_sizes(); }
  int64_t output_size() const override { return gru_.output_size(); }
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override {
    size_ = size - 1;
    gru_.Build(graph, size_, dtype, at);
  }
  layers::RnnStep Step(Output input, const OutputList& state, At at) override {
    const Output weight = Slice(input, {0, size_}, {-1, 1});
    const layers::RnnStep step = gru_.Step(Slice(input, {0, 0}, {-1, size_}), state, at);
    const Output next = state[0] + weight * (step.output - state[0]);
    return {next, {next}};
  }

 private:
  layers::GruCell gru_;
  int64_t size_ = 0;
};

}  // namespace

// Deep interest evolution network (Zhou et al. 2019), without its auxiliary loss. A GRU extracts
// interests from the history, and a second one follows those that are relevant for the item.
Model Dien(Tables& tables, const Features& in) {
  const Vectors v = VectorsOf(tables, in);
  const Output length = Cast(ReduceSum(v.is_past, {1}), DT_INT32);
  layers::GruCell extraction(2 * kSize);
  const Output interests =
      layers::DynamicRnn(extraction, v.past, {.sequence_length = length, .name = "extraction"})
          .outputs;
  const Output hidden = (1.0f - v.is_past) * -1e9f;
  const Output weights = Softmax(Relevance(interests, v.item) + hidden);
  AttentionGruCell evolution(2 * kSize);
  const layers::DynamicRnnResult evolved =
      layers::DynamicRnn(evolution, Concat({interests, ExpandDims(weights, 2)}, 2),
                         {.sequence_length = length, .name = "evolution"});
  if (evolved.state.empty()) return {};
  return Classify(in, Predict(v, evolved.state[0]));
}

// Multi-gate mixture of experts (Ma et al. 2018).
Model Mmoe(Tables& tables, const Features& in) {
  constexpr int64_t kExperts = 4, kUnits = 64;
  const Vectors v = VectorsOf(tables, in);
  const Output mean = MeanOf(v);
  const Output x = Concat({v.user, v.item, mean, v.item * mean}, 1);
  const Output experts = Reshape(Relu(layers::Dense(kExperts * kUnits, {.name = "experts"})(x)),
                                 {-1, kExperts, kUnits});
  OutputList logits;
  for (const char* task : {"clicked", "carted", "bought"}) {
    NameScope scope(tables.graph(), task);
    const Output gate = Softmax(layers::Dense(kExperts, {.name = "gate"})(x));
    logits.push_back(Mlp(WeightedSum(experts, gate), {32, 1}));
  }
  return Classify(in, Concat(logits, 1));
}

// Covington et al. 2016, Yi et al. 2019. Ranks the item that a user clicked above the items of all
// others in the batch. Users and items meet only in a dot product, so that items can be indexed.
Model TwoTower(Tables& tables, const Features& in) {
  constexpr float kTemperature = 0.1f;
  const Vectors v = VectorsOf(tables, in);
  const auto unit = [](Output x) {
    return x * Rsqrt(ReduceSum(Square(x), {1}, {.keep_dims = true}) + 1e-6f);
  };
  const Output user = unit(Mlp(Concat({v.user, MeanOf(v)}, 1), {64, 32}));
  const Output item = unit(Mlp(v.item, {64, 32}));
  if (!user || !item) return {};
  const Output scores = MatMul(user, item, {.transpose_b = true}) / kTemperature;
  std::vector<int32_t> own(static_cast<size_t>(user.shape().dim(0)));
  for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int32_t>(i);
  const Output clicked = Reshape(Slice(in.labels, {0, 0}, {-1, 1}), {-1});
  const Output loss = losses::SparseSoftmaxCrossEntropy(
      Constant(tables.graph(), Tensor::Vector<int32_t>(own)), scores, {.weights = clicked});
  return {ReduceSum(user * item, {1}, {.keep_dims = true}) / kTemperature, loss};
}

}  // namespace sluice::recommenders
