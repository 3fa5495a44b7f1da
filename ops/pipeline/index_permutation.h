// A pseudorandom permutation of the numbers [0, size), computed without a table.
//
// It is a Simon block cipher with few rounds. If the cipher maps a number to one outside of the
// range, the result is encrypted again until it is inside ("cycle walking"). This keeps the map one
// to one.
// Thread safety: immutable.
// Reference: TensorFlow's RandomIndexShuffle; https://eprint.iacr.org/2013/404;
// https://www.cs.ucdavis.edu/~rogaway/papers/subset.pdf.
#ifndef SLUICE_OPS_PIPELINE_INDEX_PERMUTATION_H_
#define SLUICE_OPS_PIPELINE_INDEX_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace sluice {

class IndexPermutation {
 public:
  static constexpr int kRounds = 8;

  // `size` is at least 1.
  IndexPermutation(uint64_t size, const std::array<uint32_t, 3>& key);
  // `index` is below `size`.
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t Encrypt(uint64_t block) const;
  // Rotates a word to the left.
  uint64_t Rotate(uint64_t word, int bits) const {
    return ((word << bits) | (word >> (word_bits_ - bits))) & mask_;
  }

  const uint64_t largest_;
  const int word_bits_;  // 8 to 32. A word is half a block
  const uint64_t mask_;
  std::array<uint64_t, kRounds> round_keys_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_INDEX_PERMUTATION_H_
