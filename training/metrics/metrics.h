// Metrics that accumulate over many steps. Each has a value and an op that adds one batch.
//
//   Metric accuracy = metrics::Accuracy(labels, predictions);
//   session.Run({InitializeLocalVariables(g)});
//   while (…) session.Run(…, {}, {accuracy.update});
//   session.Run({}, {accuracy.value});
//
// The accumulators are local variables, also in the collection "metric_variables", with
// TensorFlow's names ("accuracy/total", "accuracy/count").
// Labels and predictions have the same shape, or differ by a last dimension of size 1. Weights are
// absent (an invalid handle), a scalar, or one per element.
// Reference: tf.compat.v1.metrics. Errors stay in the graph, and the results are then invalid.
#ifndef SLUICE_TRAINING_METRICS_METRICS_H_
#define SLUICE_TRAINING_METRICS_METRICS_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

inline constexpr std::string_view kMetricVariables = "metric_variables";

struct Metric {
  Output value;   // of all batches so far
  Output update;  // adds a batch and returns the new value
};

namespace metrics {

struct Options {
  Output weights;
  std::string_view name = "";  // scope; "" = the metric's name
};

Metric Mean(Output values, const Options& options = {}, At at = At::current());
// The fraction of predictions that equal their labels.
Metric Accuracy(Output labels, Output predictions, const Options& options = {},
                At at = At::current());
Metric MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Metric RootMeanSquaredError(Output labels, Output predictions, const Options& options = {},
                            At at = At::current());
Metric MeanAbsoluteError(Output labels, Output predictions, const Options& options = {},
                         At at = At::current());

// Counts of nonzero labels and predictions, and their ratios (0 if the denominator is 0).
Metric TruePositives(Output labels, Output predictions, const Options& options = {},
                     At at = At::current());
Metric FalsePositives(Output labels, Output predictions, const Options& options = {},
                      At at = At::current());
Metric TrueNegatives(Output labels, Output predictions, const Options& options = {},
                     At at = At::current());
Metric FalseNegatives(Output labels, Output predictions, const Options& options = {},
                      At at = At::current());
Metric Precision(Output labels, Output predictions, const Options& options = {},
                 At at = At::current());
Metric Recall(Output labels, Output predictions, const Options& options = {},
              At at = At::current());

enum class Curve { kRoc, kPrecisionRecall };
// The area between two thresholds is a trapezium, a rectangle with the smaller height, one with the
// larger height, or an interpolation of true and false positives (Davis and Goadrich 2006). The
// last one is for kPrecisionRecall; kRoc then uses trapeziums.
enum class Summation { kTrapezoidal, kMinoring, kMajoring, kCarefulInterpolation };
struct AucOptions {
  Output weights;
  int num_thresholds = 200;  // evenly spaced in [0, 1], including both ends
  Curve curve = Curve::kRoc;
  std::string_view name = "";
  Summation summation = Summation::kTrapezoidal;
  // If not empty, these thresholds are used with 0 and 1 added.
  std::vector<float> thresholds = {};
};
// The area under a curve of predictions in [0, 1].
Metric Auc(Output labels, Output predictions, const AucOptions& options = {},
           At at = At::current());

}  // namespace metrics
}  // namespace sluice

#endif  // SLUICE_TRAINING_METRICS_METRICS_H_
