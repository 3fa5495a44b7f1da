// Generates logs of impressions from seeds. An impression is one item that was shown to one user:
// its features, and labels such as "clicked". The features have as many different keys as those of
// public data sets. The probability of each label is a known function of the features, so that the
// AUC (area under the ROC curve) of a model can be judged.
//
// Row i depends only on the options and i.
// Thread safety: any thread may call `rows`.
#ifndef SLUICE_DEMOS_RECOMMENDERS_LOG_H_
#define SLUICE_DEMOS_RECOMMENDERS_LOG_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graph/tensor/tensor.h"

namespace sluice::recommenders {

// One feature of an impression, or its labels.
struct Column {
  std::string name;
  DataType dtype = DT_INVALID;  // DT_FLOAT, DT_INT64 or DT_STRING
  int64_t width = 1;            // values per impression
};

struct Impressions {
  Tensors columns;       // [rows, width] each
  Tensor probabilities;  // float [rows, labels]: the probability with which a label was drawn as 1
};

struct Log {
  std::vector<Column> columns;  // the first has the labels: float, 0 or 1
  // Returns `count` impressions, beginning with number `first`.
  std::function<Impressions(int64_t first, int64_t count)> rows;
};

struct LogOptions {
  int64_t seed = 1;
  // The largest number of different keys of a feature. Small logs need such a limit, so that keys
  // repeat.
  int64_t keys_max = std::numeric_limits<int64_t>::max();
};

// Advertisements in the form of Criteo's Kaggle data set. Columns: labels (clicked), numbers (13
// counts), words (26 categories). The logit is a sum of one weight per word, of products of three
// pairs of words, and of the logarithms of four counts.
inline constexpr int64_t kNumbers = 13;
inline constexpr int64_t kFields = 26;
extern const std::array<int64_t, kFields> kFieldKeys;  // number of different words in each field
Log ClickLog(const LogOptions& options);

// Impressions of a shop in the form of Taobao's data set. Columns: labels (clicked, carted,
// bought), user, item, category, and up to 20 items that the user clicked before, with their
// categories: oldest first, -1 after the last. Every category belongs to one of eight topics. A
// user's interest moves from one topic to another. The labels depend on how often the item's topic
// occurs in the history, above all at its end, and on weights of the item and the user.
inline constexpr int64_t kHistory = 20;
inline constexpr int64_t kUsers = 987'994;
inline constexpr int64_t kItems = 4'162'024;
inline constexpr int64_t kItemCategories = 9'439;
Log PurchaseLog(const LogOptions& options);

// The area under the ROC curve of `scores` for column `task` of `labels`, both [rows, tasks]:
// the probability that a positive has a higher score than a negative. 0.5 if there are no positives
// or no negatives. NaN if a score is NaN, as after training diverged.
double AreaUnderCurve(const Tensor& labels, const Tensor& scores, int64_t task);

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_LOG_H_
