// Does the steps of Adam that were deferred for a row because its gradient was zero. The results
// have the same bits as if each step had been done immediately. A step is
//
//   m *= beta1;  v *= beta2;  var -= (rate * m) / (sqrt(v) + epsilon)
//
// and rounds after each operation, as separate ops of a graph do. Values that can no longer change
// are not computed: elements of the variable that are much larger than all remaining steps, and
// moments that rounding keeps constant.
//
// Thread safety: threads may work on different rows at the same time. The history must not change
// meanwhile.
#ifndef SLUICE_OPS_UPDATE_ROW_DECAY_H_
#define SLUICE_OPS_UPDATE_ROW_DECAY_H_

#include <array>
#include <cstdint>
#include <vector>

namespace sluice {

template <typename T>
struct AdamNumbers {
  T rate;  // of this step, corrected for the moments' start at zero
  T beta1;
  T beta2;
  T epsilon;
};

// Keeps the AdamNumbers of at least the latest kLongest steps, by step.
template <typename T>
class AdamHistory {
 public:
  static constexpr uint64_t kLongest = 4096;

  AdamHistory() : numbers_(kRoom) {}
  // The number of steps that were added. The latest is step steps() - 1.
  uint64_t steps() const { return steps_; }
  void Add(const AdamNumbers<T>& numbers);
  const AdamNumbers<T>& at(uint64_t step) const { return numbers_[step % kRoom]; }
  // From this step on the history is regular: beta1, beta2 and epsilon are constant, both betas are
  // in (0, 1], epsilon is positive, and rates are finite and not negative. ReplayDecay may skip
  // work in such steps.
  uint64_t regular_since() const { return regular_since_; }
  // An upper bound of the rates of the steps [from, steps()).
  T LargestRate(uint64_t from) const;

 private:
  static constexpr uint64_t kRoom = 2 * kLongest;
  static constexpr uint64_t kBlock = 256;

  uint64_t steps_ = 0;
  uint64_t regular_since_ = 0;
  std::vector<AdamNumbers<T>> numbers_;               // ring
  std::array<T, kRoom / kBlock> largest_rates_ = {};  // by block of the ring
};

// `size` elements of a row of the variable, and the same elements of the moments m and v. They are
// the whole row or a part.
template <typename T>
struct AdamRow {
  T* var;
  T* m;
  T* v;
  int64_t size;
};

// Does steps [from, to) of the history for a row whose gradient was zero in these steps.
template <typename T>
void ReplayDecay(const AdamHistory<T>& history, uint64_t from, uint64_t to, const AdamRow<T>& row);

// These functions do one step of a row that has a gradient g. The caller first calls DecayMoments,
// which multiplies m by beta1 and v by beta2. Then it calls AddToMoments once for each occurrence
// of the row in the gradient's indices, with to_m = (1 - beta1) g and to_v = (1 - beta2) g^2 of
// that occurrence, row.size elements each. Finally MoveVariable changes the variable.
template <typename T>
void DecayMoments(const AdamNumbers<T>& numbers, const AdamRow<T>& row);
template <typename T>
void AddToMoments(const T* to_m, const T* to_v, const AdamRow<T>& row);
template <typename T>
void MoveVariable(const AdamNumbers<T>& numbers, const AdamRow<T>& row);

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_ROW_DECAY_H_
