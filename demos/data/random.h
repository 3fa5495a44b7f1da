// Random generates random numbers from a seed, the same on every machine (splitmix64). Neighbouring
// seeds give unrelated numbers.
//
// Thread safety: none.
#ifndef SLUICE_DEMOS_DATA_RANDOM_H_
#define SLUICE_DEMOS_DATA_RANDOM_H_

#include <cstdint>

namespace sluice::demos {

class Random {
 public:
  explicit Random(uint64_t seed);
  uint64_t Bits();
  double Uniform();          // [0, 1)
  int64_t Below(int64_t n);  // 0 to n - 1
  double Normal();           // mean 0, standard deviation 1

 private:
  uint64_t state_;
};

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_DATA_RANDOM_H_
