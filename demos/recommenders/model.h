// Builds recommender models with training/layers. Each is about a screen of code.
#ifndef SLUICE_DEMOS_RECOMMENDERS_MODEL_H_
#define SLUICE_DEMOS_RECOMMENDERS_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "demos/recommenders/log.h"
#include "demos/recommenders/tables.h"
#include "graph/ir/graph.h"

namespace sluice::recommenders {

// The features of a batch of impressions. A click log has labels, numbers and words. A purchase log
// has labels and the other features.
struct Features {
  Output labels;                       // float [batch, labels]
  Output numbers;                      // float [batch, kNumbers]: log(1 + count)
  Output words;                        // int64 [batch, kFields]: hashes
  Output user, item, category;         // int64 [batch]
  Output past_items, past_categories;  // int64 [batch, kHistory]; -1 is padding
};

// The size of the embedding of a word, user, item or category.
inline constexpr int64_t kSize = 16;

struct Model {
  Output logits;  // [batch, tasks]: task i predicts label i
  Output loss;
};

enum class LogKind { kClicks, kPurchases };
Log MakeLog(LogKind kind, const LogOptions& options);

struct ModelKind {
  std::string_view name;
  std::string_view about;
  LogKind log;
  Model (*build)(Tables& tables, const Features& in);
  float learning_rate;  // of Adagrad
};
const std::vector<ModelKind>& ModelKinds();
// Null if there is no model with this name.
const ModelKind* FindModel(std::string_view name);

// The op that trains the model by Adagrad. `step` is incremented unless it is null.
Operation Minimize(const ModelKind& kind, const Model& model, const Variable* step = nullptr);

// The features from the columns of a log.
Features FeaturesOf(LogKind kind, const OutputList& columns);
// Placeholders for the features.
Features PlaceholdersOf(Graph& graph, LogKind kind, int64_t batch);

// fields.cc
Model WideAndDeep(Tables& tables, const Features& in);
Model Dlrm(Tables& tables, const Features& in);
Model DeepFm(Tables& tables, const Features& in);
Model DcnV2(Tables& tables, const Features& in);
// histories.cc
Model Din(Tables& tables, const Features& in);
Model Dien(Tables& tables, const Features& in);
Model Mmoe(Tables& tables, const Features& in);
Model TwoTower(Tables& tables, const Features& in);

// Fully connected layers with ReLU between them.
Output Mlp(Output x, const std::vector<int64_t>& units);
// Returns a model with these logits [batch, tasks]. Its loss is the mean sigmoid cross entropy with
// the first `tasks` labels. If `logits` is invalid, the model has no outputs.
Model Classify(const Features& in, Output logits);

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_MODEL_H_
