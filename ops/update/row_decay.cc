#include "ops/update/row_decay.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "executor/cpu/target_clones.h"

namespace sluice {
namespace {

// The number of elements of a chunk. Each array takes several vector registers, so that the
// multiplications of different registers overlap.
constexpr int64_t kChunk = 64;
constexpr uint64_t kStepsBetweenLooks = 16;

template <typename T>
bool IsDecay(T beta) {
  return beta > T(0) && beta <= T(1);
}

template <typename T>
bool IsRegular(const AdamNumbers<T>& n) {
  return IsDecay(n.beta1) && IsDecay(n.beta2) && n.epsilon > T(0) && std::isfinite(n.epsilon) &&
         n.rate >= T(0) && std::isfinite(n.rate);
}

// Bounds that hold in all remaining steps. Rounded operations are monotonic in each operand, so
// bounds of the operands give a bound of the result.
template <typename T>
struct Bound {
  T rate;     // at least the largest learning rate
  T decay;    // at most the product of all factors of v
  T epsilon;  // at most the epsilon of the steps
};

template <typename T>
Bound<T> BoundOf(const AdamHistory<T>& history, uint64_t from, uint64_t to) {
  const AdamNumbers<T>& n = history.at(to - 1);
  // Rounding reduces the product by a factor of 1 - 2^-24 per step at most. In 4,096 steps it loses
  // much less than the 2 percent that are subtracted here.
  const double decay =
      0.98 * std::pow(static_cast<double>(n.beta2), static_cast<double>(to - from));
  return {history.LargestRate(from), static_cast<T>(decay), n.epsilon * T(0.99)};
}

// Returns whether no remaining step changes var, because rounding absorbs every possible change.
template <typename T>
SLUICE_INLINE_IN_CLONES bool IsAtRest(const Bound<T>& bound, const T* var, const T* m, const T* v) {
  // Smaller numbers may be subnormal, so that rounding errors are no longer relative to the value.
  constexpr T kLeast = std::numeric_limits<T>::min() * T(1e8);
  int moves = 0;
  for (int64_t i = 0; i < kChunk; ++i) {
    T least = v[i] * bound.decay;
    least = least < kLeast ? T(0) : least;
    const T root = v[i] >= T(0) ? std::sqrt(least) * T(0.99) : v[i];
    const T most = (bound.rate * std::abs(m[i])) / (root + bound.epsilon);
    // Treats -0 as if it changed, because subtracting -0 from it gives +0.
    const int stays = static_cast<int>(var[i] - most == var[i]) &
                      static_cast<int>(var[i] + most == var[i]) & static_cast<int>(v[i] >= T(0)) &
                      static_cast<int>(var[i] != T(0) || std::copysign(T(1), var[i]) > T(0));
    moves |= 1 - stays;
  }
  return moves == 0;
}

// Multiplies each element of x by `decay`, `times` times.
template <typename T>
SLUICE_INLINE_IN_CLONES void Shrink(T* x, T decay, uint64_t times) {
  constexpr uint64_t kTimes = 32;
  while (times > 0) {
    T before[kChunk];
    std::memcpy(before, x, sizeof(before));
    const uint64_t now = std::min(times, kTimes);
    for (uint64_t t = 0; t < now; ++t) {
      for (int64_t i = 0; i < kChunk; ++i) x[i] *= decay;
    }
    times -= now;
    // Magnitudes never grow. So if no value differs after several steps, none will change any more.
    if (std::memcmp(before, x, sizeof(before)) == 0) return;
  }
}

template <typename T>
SLUICE_TARGET_CLONES void ReplayChunk(const AdamHistory<T>& history, uint64_t from, uint64_t to,
                                      const Bound<T>& bound, T* var, T* m, T* v) {
  const uint64_t regular = history.regular_since();
  uint64_t step = from;
  while (step < to) {
    if (step >= regular && IsAtRest(bound, var, m, v)) break;
    uint64_t end = std::min(to, step + kStepsBetweenLooks);
    if (step < regular) end = std::min(end, regular);
    for (; step < end; ++step) {
      const AdamNumbers<T> n = history.at(step);
      for (int64_t i = 0; i < kChunk; ++i) {
        m[i] = m[i] * n.beta1;
        v[i] = v[i] * n.beta2;
        var[i] = var[i] - (n.rate * m[i]) / (std::sqrt(v[i]) + n.epsilon);
      }
    }
  }
  if (step == to) return;
  Shrink(m, history.at(to - 1).beta1, to - step);
  Shrink(v, history.at(to - 1).beta2, to - step);
}

}  // namespace

template <typename T>
void AdamHistory<T>::Add(const AdamNumbers<T>& numbers) {
  const bool is_regular = IsRegular(numbers);
  if (!is_regular) {
    regular_since_ = steps_ + 1;
  } else if (steps_ > 0) {
    const AdamNumbers<T>& last = at(steps_ - 1);
    const bool same = last.beta1 == numbers.beta1 && last.beta2 == numbers.beta2 &&
                      last.epsilon == numbers.epsilon;
    if (!same) regular_since_ = steps_;
  }
  numbers_[steps_ % kRoom] = numbers;
  T& largest = largest_rates_[steps_ % kRoom / kBlock];
  if (steps_ % kBlock == 0) largest = T(0);
  if (is_regular) largest = std::max(largest, numbers.rate);
  ++steps_;
}

template <typename T>
T AdamHistory<T>::LargestRate(uint64_t from) const {
  T largest = T(0);
  for (uint64_t block = from / kBlock; block * kBlock < steps_; ++block) {
    largest = std::max(largest, largest_rates_[block % largest_rates_.size()]);
  }
  return largest;
}

template <typename T>
void ReplayDecay(const AdamHistory<T>& history, uint64_t from, uint64_t to, const AdamRow<T>& row) {
  if (from == to) return;
  const Bound<T> bound = BoundOf(history, from, to);
  alignas(64) T var[kChunk], m[kChunk], v[kChunk];
  for (int64_t begin = 0; begin < row.size; begin += kChunk) {
    const int64_t n = std::min(kChunk, row.size - begin);
    const size_t bytes = static_cast<size_t>(n) * sizeof(T);
    if (n < kChunk) {
      std::memset(var, 0, sizeof(var));
      std::memset(m, 0, sizeof(m));
      std::memset(v, 0, sizeof(v));
    }
    std::memcpy(var, row.var + begin, bytes);
    std::memcpy(m, row.m + begin, bytes);
    std::memcpy(v, row.v + begin, bytes);
    ReplayChunk(history, from, to, bound, var, m, v);
    std::memcpy(row.var + begin, var, bytes);
    std::memcpy(row.m + begin, m, bytes);
    std::memcpy(row.v + begin, v, bytes);
  }
}

template <typename T>
SLUICE_TARGET_CLONES void DecayMoments(const AdamNumbers<T>& n, const AdamRow<T>& row) {
  const auto [var, m, v, size] = row;
  for (int64_t i = 0; i < size; ++i) {
    m[i] = m[i] * n.beta1;
    v[i] = v[i] * n.beta2;
  }
}

template <typename T>
SLUICE_TARGET_CLONES void AddToMoments(const T* to_m, const T* to_v, const AdamRow<T>& row) {
  const auto [var, m, v, size] = row;
  for (int64_t i = 0; i < size; ++i) {
    m[i] = m[i] + to_m[i];
    v[i] = v[i] + to_v[i];
  }
}

template <typename T>
SLUICE_TARGET_CLONES void MoveVariable(const AdamNumbers<T>& n, const AdamRow<T>& row) {
  const auto [var, m, v, size] = row;
  for (int64_t i = 0; i < size; ++i) {
    var[i] = var[i] - (n.rate * m[i]) / (std::sqrt(v[i]) + n.epsilon);
  }
}

#define SLUICE_ROW_DECAY(T)                                                                \
  template class AdamHistory<T>;                                                           \
  template void ReplayDecay(const AdamHistory<T>&, uint64_t, uint64_t, const AdamRow<T>&); \
  template void DecayMoments(const AdamNumbers<T>&, const AdamRow<T>&);                    \
  template void AddToMoments(const T*, const T*, const AdamRow<T>&);                       \
  template void MoveVariable(const AdamNumbers<T>&, const AdamRow<T>&)
SLUICE_ROW_DECAY(float);
SLUICE_ROW_DECAY(double);
#undef SLUICE_ROW_DECAY

}  // namespace sluice
