// What the models learn from: made by seeded generators, or read from a text that Debian has. A
// batch depends on its step only.
#ifndef SLUICE_DEMOS_MODELS_DATA_H_
#define SLUICE_DEMOS_MODELS_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice::demos {

// Numbers that follow from a seed, the same on every machine (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t Bits();
  double Uniform();          // [0, 1)
  int64_t Below(int64_t n);  // 0 to n - 1
  double Normal();

 private:
  uint64_t state_;
};

// Blurred blobs of 28 x 28 pixels in [0, 1]; where a blob lies follows from its class.
struct ImageBatch {
  Tensor images;  // float [batch, 28, 28, 1]
  Tensor labels;  // int32 [batch], 0 to 9
};
ImageBatch Images(int64_t step, int64_t batch);

inline constexpr int kCharacters = 128;  // ASCII
// The GNU General Public License, as characters. NOT_FOUND where
// /usr/share/common-licenses/GPL-2 is missing.
absl::StatusOr<std::vector<int32_t>> LicenceCharacters();
// int32 [batch, length]: pieces of `text`, each from a place of its own.
Tensor Pieces(const std::vector<int32_t>& text, int64_t step, int64_t batch, int64_t length);
// int32 [batch]: low to high.
Tensor Lengths(int64_t step, int64_t batch, int64_t low, int64_t high);

// The same text as words: ids in order of frequency, the rare ones 0.
absl::StatusOr<std::vector<int32_t>> LicenceWords(int vocabulary);
struct WordBatch {
  Tensor words;       // int32 [batch]
  Tensor neighbours;  // int64 [batch, 1]
};
WordBatch SkipGrams(const std::vector<int32_t>& words, int64_t step, int64_t batch);

struct RatingBatch {
  Tensor users, items;  // int32 [batch]
  Tensor ratings;       // float [batch]
};
RatingBatch Ratings(int64_t step, int64_t batch, int64_t users, int64_t items);

// A log as Criteo's: 13 counts, 26 categories as words of very different frequency, clicked or not.
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
