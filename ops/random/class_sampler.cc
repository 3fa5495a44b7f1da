#include "ops/random/class_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/random/distributions.h"

namespace sluice {
namespace {

uint64_t Bits64(SingleNumbers& bits) {
  const uint32_t low = bits();
  return Philox::Join(low, bits());
}

// Returns a number in [0, n). Rejects the lowest numbers of U, so that the modulo does not make
// some results more likely.
template <typename U, typename F>
U Below(U n, const F& draw) {
  if ((n & (n - 1)) == 0) return draw() & (n - 1);
  const U rejected = std::numeric_limits<U>::max() % n + 1;
  U value;
  do {
    value = draw();
  } while (value < rejected);
  return value % n;
}

class Uniform : public ClassSampler {
 public:
  explicit Uniform(int64_t range)
      : ClassSampler(range), probability_(static_cast<float>(1.0 / static_cast<double>(range))) {}
  int64_t Sample(SingleNumbers& bits) const override {
    return static_cast<int64_t>(Below64(static_cast<uint64_t>(range()), bits));
  }
  float Probability(int64_t) const override { return probability_; }

 private:
  const float probability_;
};

class LogUniform : public ClassSampler {
 public:
  explicit LogUniform(int64_t range)
      : ClassSampler(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t Sample(SingleNumbers& bits) const override {
    const uint32_t x0 = bits();
    const double u = random::ToDouble(x0, bits());
    // Takes the result modulo range(), because rounding may produce range().
    return (static_cast<int64_t>(std::exp(u * log_range_)) - 1) % range();
  }
  float Probability(int64_t value) const override {
    const auto v = static_cast<double>(value);
    return static_cast<float>(std::log((v + 2.0) / (v + 1.0)) / log_range_);
  }

 private:
  const double log_range_;
};

// Samples classes in proportion to their counts. A binary tree of sums makes the time of a draw
// logarithmic in the number of classes.
class Learned : public ClassSampler {
 public:
  explicit Learned(int64_t range) : ClassSampler(range) {
    while (leaves_ < range) leaves_ *= 2;
    sums_.assign(static_cast<size_t>(2 * leaves_), 0);
    std::fill_n(sums_.begin() + leaves_, range, 1);
    for (int64_t i = leaves_ - 1; i >= 1; --i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  }
  int64_t Sample(SingleNumbers& bits) const override {
    auto place = static_cast<int32_t>(Below32(static_cast<uint32_t>(sums_[1]), bits));
    int64_t node = 1;
    while (node < leaves_) {
      node *= 2;
      if (place >= sums_[node]) place -= sums_[node++];
    }
    return node - leaves_;
  }
  float Probability(int64_t value) const override {
    return static_cast<float>(sums_[leaves_ + value]) / static_cast<float>(sums_[1]);
  }
  bool learns() const override { return true; }
  void Update(absl::Span<const int64_t> classes) override {
    for (int64_t value : classes) {
      if (sums_[1] == std::numeric_limits<int32_t>::max()) return;
      for (int64_t node = leaves_ + value; node >= 1; node /= 2) ++sums_[node];
    }
  }

 private:
  int64_t leaves_ = 1;
  std::vector<int32_t> sums_;  // node i has the sum of its leaves, and the children 2i and 2i + 1
};

// Walker's alias method: divides the range into `range` equal parts, each of which belongs to at
// most two classes.
class Weighted : public ClassSampler {
 public:
  explicit Weighted(std::vector<float> weights)
      : ClassSampler(static_cast<int64_t>(weights.size())), weights_(std::move(weights)) {
    double sum = 0;
    for (float w : weights_) {
      sum += w;
      total_ += w;
    }
    const int n = static_cast<int>(weights_.size());
    std::vector<double> shares(weights_.size());
    std::vector<int> large, small;
    for (int i = 0; i < n; ++i) {
      shares[i] = (weights_[i] * static_cast<float>(n)) / sum;
      (shares[i] < 1 ? small : large).push_back(i);
    }
    others_.assign(weights_.size(), -1);
    while (!large.empty() && !small.empty()) {
      const int low = small.back(), high = large.back();
      small.pop_back();
      large.pop_back();
      others_[low] = high;
      shares[high] -= 1 - shares[low];
      (shares[high] < 1 ? small : large).push_back(high);
    }
    own_.assign(shares.begin(), shares.end());
    for (const std::vector<int>* rest : {&large, &small}) {
      for (int i : *rest) {  // their shares are 1, apart from rounding errors
        own_[i] = 1;
        others_[i] = i;
      }
    }
  }
  int64_t Sample(SingleNumbers& bits) const override {
    const float r = random::ToFloat(bits());
    const uint32_t i = Below32(static_cast<uint32_t>(own_.size()), bits);
    return r < own_[i] ? static_cast<int64_t>(i) : others_[i];
  }
  float Probability(int64_t value) const override {
    return weights_[static_cast<size_t>(value)] / total_;
  }
  int64_t drawable() const override {
    std::vector<bool> drawn(own_.size());
    for (size_t i = 0; i < own_.size(); ++i) {
      if (own_[i] > 0) drawn[i] = true;
      if (!(own_[i] >= 1)) drawn[static_cast<size_t>(others_[i])] = true;
    }
    return std::count(drawn.begin(), drawn.end(), true);
  }

 private:
  const std::vector<float> weights_;
  float total_ = 0;
  std::vector<float> own_;
  std::vector<int> others_;
};

}  // namespace

uint64_t Below64(uint64_t n, SingleNumbers& bits) {
  return Below<uint64_t>(n, [&bits] { return Bits64(bits); });
}
uint32_t Below32(uint32_t n, SingleNumbers& bits) {
  return Below<uint32_t>(n, [&bits] { return bits(); });
}

std::unique_ptr<ClassSampler> UniformClasses(int64_t range) {
  return std::make_unique<Uniform>(range);
}
std::unique_ptr<ClassSampler> LogUniformClasses(int64_t range) {
  return std::make_unique<LogUniform>(range);
}
absl::StatusOr<std::unique_ptr<ClassSampler>> LearnedClasses(int64_t range) {
  // Four nodes per class suffice, although the number of leaves is rounded up to a power of two.
  SLUICE_RETURN_IF_ERROR(CheckRoom(range, 4 * sizeof(int32_t), "classes"));
  return std::unique_ptr<ClassSampler>(new Learned(range));
}

absl::StatusOr<std::unique_ptr<ClassSampler>> WeightedClasses(int64_t range,
                                                              std::vector<float> weights) {
  SLUICE_INVALID_IF(static_cast<int64_t>(weights.size()) != range || range == 0, "range is ", range,
                    " must be equal to weights size ", weights.size());
  return std::unique_ptr<ClassSampler>(new Weighted(std::move(weights)));
}

}  // namespace sluice
