// Counts of values in buckets that grow by a tenth, as histogram summaries show them.
//
// Bucket limits are TensorFlow's: 1e-12 * 1.1^k below 1e20, the same below zero, zero, and the
// largest double. A value belongs to the first bucket whose limit is above it.
// Thread safety: none.
#ifndef SLUICE_OPS_SUMMARY_HISTOGRAM_H_
#define SLUICE_OPS_SUMMARY_HISTOGRAM_H_

#include <limits>
#include <vector>

#include "graph/format/proto/histogram.pb.h"

namespace sluice {

class Histogram {
 public:
  Histogram();
  void Add(double value);
  // Runs of empty buckets are written as one.
  void ToProto(pb::HistogramProto* proto) const;

 private:
  double min_ = std::numeric_limits<double>::max();
  double max_ = -std::numeric_limits<double>::max();
  double num_ = 0;
  double sum_ = 0;
  double sum_squares_ = 0;
  std::vector<double> counts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_HISTOGRAM_H_
