// Metrics that accumulate over many steps. Each has a value and an op that adds one batch.
//
//   Metric accuracy = metrics::Accuracy(labels, predictions);
//   session.Run({InitializeLocalVariables(g)});
//   while (…) session.Run(…, {}, {accuracy.update});
//   session.Run({}, {accuracy.value});
//
// The accumulators are local variables, also in the collection "metric_variables", with
// TensorFlow's names ("accuracy/total", "accuracy/count"). Running their initializers begins a new
// evaluation. Labels and predictions have the same shape, or differ by a last dimension of size 1.
// Weights are absent (an invalid handle), a scalar, or one per element.
//
// Thread safety: that of the graph, which one thread at a time builds. If several steps update a
// metric at the same time, the batches of all of them are counted.
// Ownership: a Metric is two handles. The graph owns the nodes. The device owns the counts.
// Errors: stay in the graph, and the results are then invalid. Values are 0 before the first batch.
// Reference: tf.compat.v1.metrics.
#ifndef SLUICE_TRAINING_METRICS_METRICS_H_
#define SLUICE_TRAINING_METRICS_METRICS_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

inline constexpr std::string_view kMetricVariables = "metric_variables";

// Two float scalars. Fetch `update` or run it once per batch; fetch `value` after the last. Do not
// fetch both in one step: they are not ordered.
struct Metric {
  // The metric of all batches so far.
  Output value;
  // Adds a batch and returns the new value.
  Output update;
};

namespace metrics {

struct Options {
  // A scalar, or one weight per element. Invalid: all weights are 1.
  Output weights;
  // Name scope of the nodes. "": the metric's name.
  std::string_view name = "";
};

// The weighted mean of all values.
Metric Mean(Output values, const Options& options = {}, At at = At::current());
// The fraction of predictions that equal their labels.
Metric Accuracy(Output labels, Output predictions, const Options& options = {},
                At at = At::current());
// The mean of (p - l)^2, the root of this mean, and the mean of |p - l|, with predictions p and
// labels l.
Metric MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Metric RootMeanSquaredError(Output labels, Output predictions, const Options& options = {},
                            At at = At::current());
Metric MeanAbsoluteError(Output labels, Output predictions, const Options& options = {},
                         At at = At::current());

// Metrics of yes/no decisions. Labels and predictions are converted to bool: nonzero is positive.
// The first four count elements by label and prediction: a false positive is predicted positive,
// but labelled negative. Precision is the share of the predicted positives that are labelled
// positive. Recall is the share of the labelled positives that are predicted positive. A share is 0
// if its denominator is 0.
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
// The way to compute the area under a curve between two neighbouring thresholds. kTrapezoidal uses
// a trapezium. kMinoring and kMajoring use rectangles with the smaller and the larger of the two
// heights. kCarefulInterpolation interpolates true and false positives (Davis and Goadrich 2006).
// It is for kPrecisionRecall only. For kRoc it stands for kTrapezoidal.
enum class Summation { kTrapezoidal, kMinoring, kMajoring, kCarefulInterpolation };
struct AucOptions {
  Output weights;
  // The number of thresholds. They are evenly spaced in [0, 1], including both ends.
  int num_thresholds = 200;
  Curve curve = Curve::kRoc;
  std::string_view name = "";
  Summation summation = Summation::kTrapezoidal;
  // If not empty, these thresholds are used with 0 and 1 added.
  std::vector<float> thresholds = {};
};

// The area under the ROC curve or the precision-recall curve of predictions in [0, 1]. The metric
// counts true and false positives and negatives at each threshold, so it is more exact with more
// thresholds. INVALID_ARGUMENT for fewer than two thresholds.
//
//   Metric auc = metrics::Auc(clicked, Sigmoid(logits), {.num_thresholds = 1000});
Metric Auc(Output labels, Output predictions, const AucOptions& options = {},
           At at = At::current());

}  // namespace metrics
}  // namespace sluice

#endif  // SLUICE_TRAINING_METRICS_METRICS_H_
