#include "ops/summary/histogram.h"

#include <algorithm>

namespace sluice {
namespace {

std::vector<double> MakeLimits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0.0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& Limits() {
  static const auto* limits = new std::vector<double>(MakeLimits());
  return *limits;
}

}  // namespace

Histogram::Histogram() : counts_(Limits().size()) {}

void Histogram::Add(double value) {
  const std::vector<double>& limits = Limits();
  const auto above = std::upper_bound(limits.begin(), limits.end(), value);
  // Puts values above all limits into the last bucket: no limit exceeds the largest double.
  const size_t bucket = std::min<size_t>(above - limits.begin(), limits.size() - 1);
  ++counts_[bucket];
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  ++num_;
  sum_ += value;
  sum_squares_ += value * value;
}

void Histogram::ToProto(pb::HistogramProto* proto) const {
  const std::vector<double>& limits = Limits();
  proto->Clear();
  proto->set_min(min_);
  proto->set_max(max_);
  proto->set_num(num_);
  proto->set_sum(sum_);
  proto->set_sum_squares(sum_squares_);
  for (size_t i = 0; i < counts_.size(); ++i) {
    while (counts_[i] == 0 && i + 1 < counts_.size() && counts_[i + 1] == 0) ++i;
    proto->add_bucket_limit(limits[i]);
    proto->add_bucket(counts_[i]);
  }
}

}  // namespace sluice
