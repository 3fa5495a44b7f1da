// Damages the bytes of a message or file at random, for fuzz targets and attacks.
#ifndef SLUICE_BAZEL_FUZZ_MUTATE_H_
#define SLUICE_BAZEL_FUZZ_MUTATE_H_

#include <cstddef>
#include <string>

namespace sluice {

// Changes up to four places: flips a bit, overwrites, inserts or removes bytes, or truncates. A
// truncation is done only with probability 1 / truncations_in, because a message that is cut early
// tests little of the code that reads it.
template <typename Random>
void Mutate(std::string& bytes, Random& random, unsigned truncations_in) {
  for (auto n = 1 + random() % 4; n > 0; --n) {
    const size_t at = bytes.empty() ? 0 : random() % bytes.size();
    const char byte = static_cast<char>(random());
    switch (random() % 5) {
      case 0:
        if (!bytes.empty()) bytes[at] ^= static_cast<char>(1 << (random() % 8));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = byte;
        break;
      case 2:
        bytes.insert(at, 1 + random() % 4, byte);
        break;
      case 3:
        bytes.erase(at, 1 + random() % 4);
        break;
      default:
        if (truncations_in == 1 || random() % truncations_in == 0) bytes.resize(at);
    }
  }
}

}  // namespace sluice

#endif  // SLUICE_BAZEL_FUZZ_MUTATE_H_
