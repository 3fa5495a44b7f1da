#include "ops/pipeline/index_permutation.h"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

// Returns half the number of bits of a block that holds all numbers up to `largest`. If `largest`
// is a power of two, TensorFlow's blocks have too few bits, so that it returns one element twice
// and another one never.
int WordBits(uint64_t largest) {
  constexpr int kLeastBlock = 16;
  const int bits = static_cast<int>(std::bit_width(largest));
  return std::max(bits + bits % 2, kLeastBlock) / 2;
}

}  // namespace

IndexPermutation::IndexPermutation(uint64_t size, const std::array<uint32_t, 3>& key)
    : largest_(size - 1), word_bits_(WordBits(largest_)), mask_((uint64_t{1} << word_bits_) - 1) {
  constexpr uint64_t kConstant = 0xfffffffc;
  uint64_t sequence = 0x7369f885192c0ef5 & mask_;
  for (size_t i = 0; i < key.size(); ++i) round_keys_[i] = key[i] & mask_;
  for (size_t i = key.size(); i < round_keys_.size(); ++i) {
    const uint64_t previous = round_keys_[i - 1];
    round_keys_[i] = (kConstant & mask_) ^ (sequence & 1) ^ round_keys_[i - 3] ^
                     Rotate(previous, word_bits_ - 3) ^ Rotate(previous, word_bits_ - 4);
    sequence >>= 1;
  }
}

uint64_t IndexPermutation::Encrypt(uint64_t block) const {
  const auto mix = [this](uint64_t word) {
    return (Rotate(word, 1) & Rotate(word, 8 % word_bits_)) ^ Rotate(word, 2);
  };
  uint64_t left = (block >> word_bits_) & mask_, right = block & mask_;
  for (size_t i = 0; i < round_keys_.size(); i += 2) {
    left ^= mix(right) ^ round_keys_[i];
    right ^= mix(left) ^ round_keys_[i + 1];
  }
  return (left << word_bits_) | right;
}

uint64_t IndexPermutation::operator()(uint64_t index) const {
  if (largest_ == 0) return 0;
  do {
    index = Encrypt(index);
  } while (index > largest_);
  return index;
}

}  // namespace sluice
