// Metrics over batches that change with the step, and partitioned variables.
#include "graph/status.h"
#include "tests/oracle/training/examples.h"

namespace sluice {
namespace {

using metrics::AucOptions;
using metrics::Curve;
using metrics::Summation;

constexpr int kElements = 40;

// Numbers computed from a counter. The program in TensorFlow computes them in the same way.
struct Batch {
  Output labels, classes, said, predictions, values, weights;
};

Output Moved(Graph& g, const Variable& tick, float factor, float rate, float modulus) {
  Tensor numbers(DT_FLOAT, TensorShape({kElements}));
  for (int i = 0; i < kElements; ++i) {
    numbers.data<float>()[i] = static_cast<float>(i) * factor;
  }
  return FloorMod(Constant(g, numbers) + tick.Read() * rate, Constant(g, modulus));
}

Batch MakeBatch(Graph& g, const Variable& tick) {
  Batch b;
  b.classes = Cast(Moved(g, tick, 7, 3, 5), DT_INT32);
  b.labels = Less(b.classes, Constant(g, int32_t{2}));
  b.said = Cast(Moved(g, tick, 3, 1, 5), DT_INT32);
  b.predictions = Moved(g, tick, 0.37f, 0.21f, 1);
  b.values = Moved(g, tick, 1.5f, 0.25f, 11);
  b.weights = Moved(g, tick, 0.75f, 0.5f, 3);
  return b;
}

std::vector<Metric> Areas(const Batch& b) {
  std::vector<Metric> made;
  for (const Curve curve : {Curve::kRoc, Curve::kPrecisionRecall}) {
    for (const Summation summation : {Summation::kTrapezoidal, Summation::kMinoring,
                                      Summation::kMajoring, Summation::kCarefulInterpolation}) {
      const AucOptions plain = {.curve = curve, .summation = summation};
      AucOptions few = plain, weighted = plain, given = plain;
      few.num_thresholds = 7;
      weighted.weights = b.weights;
      given.thresholds = {0.8f, 0.25f, 0.5f};
      for (const AucOptions& options : {plain, few, weighted, given}) {
        made.push_back(metrics::Auc(b.labels, b.predictions, options));
      }
    }
  }
  return made;
}

std::vector<Metric> AllMetrics(Graph& g, const Batch& b) {
  const Output number = Constant(g, 0.5f);
  const Output is = Cast(b.labels, DT_FLOAT), was = Cast(Greater(b.predictions, number), DT_FLOAT);
  std::vector<Metric> made;
  for (const Output& weights : {Output(), number, b.weights}) {
    const metrics::Options how = {.weights = weights};
    made.push_back(metrics::Mean(b.values, how));
    made.push_back(metrics::Accuracy(b.classes, b.said, how));
    made.push_back(metrics::MeanSquaredError(b.values, b.predictions, how));
    made.push_back(metrics::RootMeanSquaredError(b.values, b.predictions, how));
    made.push_back(metrics::MeanAbsoluteError(b.values, b.predictions, how));
    made.push_back(metrics::TruePositives(is, was, how));
    made.push_back(metrics::FalsePositives(is, was, how));
    made.push_back(metrics::TrueNegatives(is, was, how));
    made.push_back(metrics::FalseNegatives(is, was, how));
    made.push_back(metrics::Precision(b.classes, b.said, how));
    made.push_back(metrics::Recall(b.classes, b.said, how));
  }
  for (const Metric& area : Areas(b)) made.push_back(area);
  return made;
}

void Build(Graph& g, Spec& spec) {
  Variable tick(g, "tick", Tensor::Scalar(0.0f), {.use_resource = true});
  const Batch batch = MakeBatch(g, tick);
  int n = 0;
  for (const Metric& metric : AllMetrics(g, batch)) {
    if (!metric.value) return;
    spec.targets.push_back(Identity(metric.update, {.name = StrCat("update", n)}).node);
    spec.fetches.push_back(Identity(metric.value, {.name = StrCat("value", n)}));
    ++n;
  }
  spec.after = {tick.AssignAdd(Constant(g, 1.0f), {.name = "count"})};
  spec.init = {InitializeVariables(g), InitializeLocalVariables(g)};
  spec.steps = 5;
}

std::string Line(std::string_view kind, int64_t number, int axis, const TensorShape& shape,
                 DataType dtype, const std::vector<int>& partitions) {
  std::string line =
      StrCat(kind, " ", number, " ", axis, " ", shape.ToString(), " ", DataTypeName(dtype), ":");
  for (const int n : partitions) line += StrCat(" ", n);
  return line;
}

void Partitions(Graph&, Spec& spec) {
  spec.steps = 0;
  const std::vector<TensorShape> shapes = {
      {1}, {7}, {1000}, {3, 5}, {64, 64}, {5, 3, 2}, {1024, 300}, {2, 100000}, {100000, 16}};
  for (const TensorShape& shape : shapes) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT64, DT_STRING}) {
        for (const int n : {1, 2, 5, 64}) {
          spec.facts.push_back(
              Line("fixed", n, axis, shape, dtype, FixedSizePartitions(shape, n, axis)));
          spec.facts.push_back(Line("minmax", n, axis, shape, dtype,
                                    MinMaxPartitions(shape, dtype, n, {.axis = axis})));
          spec.facts.push_back(
              Line("minmax32", n, axis, shape, dtype,
                   MinMaxPartitions(
                       shape, dtype, n,
                       {.axis = axis, .min_slice_size = 32, .bytes_per_string_element = 3})));
        }
        for (const int64_t bytes : {1, 100, 4096, 1 << 20}) {
          spec.facts.push_back(Line("axis", bytes, axis, shape, dtype,
                                    AxisSizePartitions(shape, dtype, bytes, {.axis = axis})));
          spec.facts.push_back(Line(
              "axis3", bytes, axis, shape, dtype,
              AxisSizePartitions(shape, dtype, bytes,
                                 {.axis = axis, .bytes_per_string_element = 7, .max_shards = 3})));
        }
      }
    }
  }
}

}  // namespace

std::vector<Example> MetricExamples() { return {{"metrics", Build}, {"partitions", Partitions}}; }

}  // namespace sluice
