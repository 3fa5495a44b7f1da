#include "demos/recommenders/model.h"

#include <algorithm>

#include "sluice.h"
namespace sluice::recommenders {

const std::vector<ModelKind>& ModelKinds() {
  static const auto* kinds = new std::vector<ModelKind>{
      {"wdl", "wide and deep: one weight per word, and a network over vectors", LogKind::kClicks,
       WideAndDeep, 0.02f},
      {"dlrm", "dot products of all pairs of vectors", LogKind::kClicks, Dlrm, 0.02f},
      {"deepfm", "a factorization machine and a network over the same vectors", LogKind::kClicks,
       DeepFm, 0.02f},
      {"dcnv2", "cross layers and a network", LogKind::kClicks, DcnV2, 0.02f},
      {"din", "the past items that resemble the present one", LogKind::kPurchases, Din, 0.02f},
      {"dien", "how the interest evolves: a GRU with attention", LogKind::kPurchases, Dien, 0.02f},
      {"mmoe", "three labels: shared experts, mixed by a gate per label", LogKind::kPurchases, Mmoe,
       0.02f},
      {"two_tower", "a vector per user and one per item; the batch's other items are negatives",
       LogKind::kPurchases, TwoTower, 0.02f},
  };
  return *kinds;
}

const ModelKind* FindModel(std::string_view name) {
  const auto& kinds = ModelKinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const ModelKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

Log MakeLog(LogKind kind, const LogOptions& options) {
  return kind == LogKind::kClicks ? ClickLog(options) : PurchaseLog(options);
}

Operation Minimize(const ModelKind& kind, const Model& model, const Variable* step) {
  if (!model.loss) return {};
  // A row's gradient is a small part of the mean over a batch, so the default of 0.1 would hold
  // rows back for a long time.
  return Adagrad({.learning_rate = kind.learning_rate, .initial_accumulator_value = 1e-4})
      .Minimize(model.loss, {.global_step = step});
}

Features FeaturesOf(LogKind kind, const OutputList& columns) {
  constexpr int64_t kHashes = int64_t{1} << 62;
  Features in;
  in.labels = columns[0];
  if (kind == LogKind::kClicks) {
    in.numbers = Log1p(columns[1]);
    in.words = StringToHashBucketFast(columns[2], kHashes);
    return in;
  }
  in.user = Squeeze(columns[1], {.squeeze_dims = {1}});
  in.item = Squeeze(columns[2], {.squeeze_dims = {1}});
  in.category = Squeeze(columns[3], {.squeeze_dims = {1}});
  in.past_items = columns[4];
  in.past_categories = columns[5];
  return in;
}

Features PlaceholdersOf(Graph& graph, LogKind kind, int64_t batch) {
  Features in;
  if (kind == LogKind::kClicks) {
    in.labels = Placeholder(graph, DT_FLOAT, {batch, 1}, "labels");
    in.numbers = Placeholder(graph, DT_FLOAT, {batch, kNumbers}, "numbers");
    in.words = Placeholder(graph, DT_INT64, {batch, kFields}, "words");
    return in;
  }
  in.labels = Placeholder(graph, DT_FLOAT, {batch, 3}, "labels");
  in.user = Placeholder(graph, DT_INT64, {batch}, "user");
  in.item = Placeholder(graph, DT_INT64, {batch}, "item");
  in.category = Placeholder(graph, DT_INT64, {batch}, "category");
  in.past_items = Placeholder(graph, DT_INT64, {batch, kHistory}, "past_items");
  in.past_categories = Placeholder(graph, DT_INT64, {batch, kHistory}, "past_categories");
  return in;
}

Output Mlp(Output x, const std::vector<int64_t>& units) {
  for (size_t i = 0; i < units.size(); ++i) {
    const bool is_last = i + 1 == units.size();
    x = layers::Dense(units[i], {.activation = is_last ? layers::Activation() : Relu})(x);
  }
  return x;
}

Model Classify(const Features& in, Output logits) {
  if (!logits) return {};
  const Output labels = Slice(in.labels, {0, 0}, {-1, logits.shape().dim(1)});
  return {logits, ReduceMean(losses::SigmoidCrossEntropyWithLogits(labels, logits))};
}

}  // namespace sluice::recommenders
