// Makes the training data of the demo models, from seeded generators or from a text that Debian
// contains. A batch depends only on `step` and on the other arguments of its function.
#ifndef SLUICE_DEMOS_MODELS_DATA_H_
#define SLUICE_DEMOS_MODELS_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice::demos {

// Images of 28 x 28 pixels in [0, 1]. Each shows a blurred blob with noise. The class, which is the
// label, determines the position of the blob.
struct ImageBatch {
  Tensor images;  // float [batch, 28, 28, 1]
  Tensor labels;  // int32 [batch], 0 to 9
};
ImageBatch Images(int64_t step, int64_t batch);

inline constexpr int kCharacters = 128;  // ASCII
// The GNU General Public License, as characters. NOT_FOUND if /usr/share/common-licenses/GPL-2 does
// not exist.
absl::StatusOr<std::vector<int32_t>> LicenceCharacters();
// int32 [batch, length]: pieces of `text` from different positions.
Tensor Pieces(const std::vector<int32_t>& text, int64_t step, int64_t batch, int64_t length);
// int32 [batch]: random lengths from `low` to `high`.
Tensor Lengths(int64_t step, int64_t batch, int64_t low, int64_t high);

// The words of the same licence, each as an id below `vocabulary`. The most frequent word has id 1,
// the second one 2, and so on. All words that get no such id have id 0.
absl::StatusOr<std::vector<int32_t>> LicenceWords(int vocabulary);
// Pairs of a word and one of its two neighbours in the text, as ids of LicenceWords.
struct WordBatch {
  Tensor words;       // int32 [batch]
  Tensor neighbours;  // int64 [batch, 1]
};
WordBatch SkipGrams(const std::vector<int32_t>& words, int64_t step, int64_t batch);

// Ratings of random pairs of a user and an item.
struct RatingBatch {
  Tensor users, items;  // int32 [batch]
  Tensor ratings;       // float [batch]
};
RatingBatch Ratings(int64_t step, int64_t batch, int64_t users, int64_t items);

// A log in the form of Criteo's: 13 counts, 26 categories with words of very different frequency,
// and whether there was a click.
inline constexpr int kNumbers = 13;
inline constexpr int kCategories = 26;
struct ClickBatch {
  Tensor numbers;     // float [batch, 13]
  Tensor categories;  // string [batch, 26]
  Tensor clicked;     // float [batch]
};
ClickBatch Clicks(int64_t step, int64_t batch);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_MODELS_DATA_H_
