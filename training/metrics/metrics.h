// Metrics that add up over many steps: each is a value, and an op that takes one batch in.
//
//   Metric accuracy = metrics::Accuracy(labels, predictions);
//   session.Run({InitializeLocalVariables(g)});
//   while (…) session.Run(…, {}, {accuracy.update});
//   session.Run({}, {accuracy.value});
//
// What they add up is in local variables, in the collections "local_variables" and
// "metric_variables", under TensorFlow's names ("accuracy/total", "accuracy/count").
// Labels and predictions have the same shape, or differ by a last dimension of size 1. Weights:
// none (an invalid handle), one number, or one an element; they weigh what is added. Reference
// behaviour: tf.compat.v1.metrics. Errors stay in the graph; results are then invalid.
#ifndef SLUICE_TRAINING_METRICS_METRICS_H_
#define SLUICE_TRAINING_METRICS_METRICS_H_

#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

inline constexpr std::string_view kMetricVariables = "metric_variables";

struct Metric {
  Output value;   // of what was taken in so far
  Output update;  // takes a batch in, and gives the value after it
};

namespace metrics {

struct Options {
  Output weights;
  std::string_view name = "";  // scope; "" = the metric's
};

Metric Mean(Output values, const Options& options = {}, At at = At::current());
// The share of predictions that equal their labels.
Metric Accuracy(Output labels, Output predictions, const Options& options = {},
                At at = At::current());
Metric MeanSquaredError(Output labels, Output predictions, const Options& options = {},
                        At at = At::current());
Metric RootMeanSquaredError(Output labels, Output predictions, const Options& options = {},
                            At at = At::current());
Metric MeanAbsoluteError(Output labels, Output predictions, const Options& options = {},
                         At at = At::current());

// Of labels and predictions that are not 0: counts, and their ratios (0 where there is nothing).
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
// Between two thresholds: the trapezium, the lesser of their heights, the greater, or precision as
// it follows from true and false positives that grow evenly (Davis and Goadrich 2006), of which
// only kPrecisionRecall knows; kRoc takes the trapezium then.
enum class Summation { kTrapezoidal, kMinoring, kMajoring, kCarefulInterpolation };
struct AucOptions {
  Output weights;
  int num_thresholds = 200;  // evenly spaced, the ends of [0, 1] among them
  Curve curve = Curve::kRoc;
  std::string_view name = "";
  Summation summation = Summation::kTrapezoidal;
  // Where not empty, these inside of [0, 1], and its ends.
  std::vector<float> thresholds = {};
};
// The area under a curve of predictions in [0, 1].
Metric Auc(Output labels, Output predictions, const AucOptions& options = {},
           At at = At::current());

}  // namespace metrics
}  // namespace sluice

#endif  // SLUICE_TRAINING_METRICS_METRICS_H_
