// Counts values in buckets for histogram summaries.
//
// The upper limits of the buckets are TensorFlow's: the numbers 1e-12 * 1.1^k below 1e20, the
// largest double, the negatives of all these, and zero. A value belongs to the first bucket whose
// limit is greater.
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
  // Writes consecutive empty buckets as one bucket.
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
