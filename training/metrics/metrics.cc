#include "training/metrics/metrics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "ops/reduce/builders.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/state/variable.h"

namespace sluice::metrics {
namespace {

constexpr float kRatioEpsilon = 1e-6f;  // TensorFlow's epsilon for ratios under a curve
constexpr float kThresholdEpsilon = 1e-7f;

Variable MetricVariable(Graph& graph, std::string_view name, const TensorShape& shape, At at) {
  return Variable(graph, name, shape, Zeros(),
                  {.dtype = DT_FLOAT,
                   .trainable = false,
                   .collections = {std::string(kLocalVariables), std::string(kMetricVariables)}},
                  at);
}

// A local variable, and the value that each step adds to it.
struct Total {
  Variable variable;
  Operation add;

  Total(Graph& graph, std::string_view name, Output amount, At at)
      : variable(MetricVariable(graph, name, ShapeOfAmount(amount), at)),
        add(variable.AssignAdd(amount, {}, at)) {}
  Output Value() const { return variable.Read(); }
  // Returns the value after this step's addition.
  Output Updated(Graph& graph) const {
    ControlDependencies after(graph, {add});
    return variable.Read();
  }

 private:
  static TensorShape ShapeOfAmount(Output amount) {
    return amount.shape().IsFullyDefined() ? amount.shape().AsShape() : TensorShape({});
  }
};

Output AsFloat(Output x) { return x.dtype() == DT_FLOAT ? x : Cast(x, DT_FLOAT); }
Output AsBool(Output x) { return x.dtype() == DT_BOOL ? x : Cast(x, DT_BOOL); }

// Removes a last dimension of size 1 if only one of `labels` and `predictions` has it.
void DropLastDimension(Output& labels, Output& predictions) {
  const PartialShape& l = labels.shape();
  const PartialShape& p = predictions.shape();
  if (!l.rank_known() || !p.rank_known()) return;
  if (p.rank() == l.rank() + 1) predictions = Squeeze(predictions, {.squeeze_dims = {-1}});
  if (l.rank() == p.rank() + 1) labels = Squeeze(labels, {.squeeze_dims = {-1}});
}

std::string ScopeName(std::string_view given, std::string_view otherwise) {
  return std::string(given.empty() ? otherwise : given);
}

Output Weighted(Output values, Output weights) {
  return weights ? values * AsFloat(weights) : values;
}

// Returns the sum of the weights of the values.
Output Weight(Output values, Output weights) {
  if (!weights) return Cast(Size(values), DT_FLOAT);
  return ReduceSum(OnesLike(values) * AsFloat(weights));
}

// Adds a count that is updated only if `values` could be computed. Otherwise a constant `amount`
// would also be counted in the step that fails at the end of the input.
Total CountAfter(Output values, std::string_view name, Output amount, At at) {
  Graph& graph = *values.graph();
  ControlDependencies after(graph, {values});
  return Total(graph, name, amount, at);
}

template <typename Make>
Metric InScope(Output first, const std::string& name, Make make) {
  if (!first) return {};
  Graph& graph = *first.graph();
  NameScope scope(graph, name);
  return make(graph, scope.prefix());
}

Metric MeanInScope(Output values, Output weights, std::string_view name, At at) {
  return InScope(values, std::string(name), [&](Graph& graph, const std::string&) {
    const Output x = AsFloat(values);
    const Total total(graph, "total", ReduceSum(Weighted(x, weights)), at);
    const Total count = CountAfter(x, "count", Weight(x, weights), at);
    const Output value = DivNoNan(total.Value(), count.Value(), {.name = "value"}, at);
    const Output updated =
        DivNoNan(total.Updated(graph), count.Updated(graph), {.name = "update_op"}, at);
    return Metric{value, updated};
  });
}

// Selects one of the four kinds of results, for counting.
struct Kind {
  const char* name;
  bool label;
  bool prediction;
};
constexpr Kind kTruePositives = {"true_positives", true, true};
constexpr Kind kFalsePositives = {"false_positives", false, true};
constexpr Kind kTrueNegatives = {"true_negatives", false, false};
constexpr Kind kFalseNegatives = {"false_negatives", true, false};

Output IsKind(Output labels, Output predictions, const Kind& kind) {
  const Output label = kind.label ? labels : LogicalNot(labels);
  const Output prediction = kind.prediction ? predictions : LogicalNot(predictions);
  return LogicalAnd(label, prediction);
}

Total CountOf(Graph& graph, Output labels, Output predictions, Output weights, const Kind& kind,
              At at) {
  NameScope scope(graph, kind.name);
  const Output is_kind = AsFloat(IsKind(labels, predictions, kind));
  return Total(graph, "count", ReduceSum(Weighted(is_kind, weights)), at);
}

Metric Count(Output labels, Output predictions, const Options& options, const Kind& kind, At at) {
  if (!labels || !predictions) return {};
  DropLastDimension(labels, predictions);
  Graph& graph = *labels.graph();
  NameScope scope(graph, ScopeName(options.name, kind.name));
  const Output is_kind = AsFloat(IsKind(AsBool(labels), AsBool(predictions), kind));
  const Total count(graph, "count", ReduceSum(Weighted(is_kind, options.weights)), at);
  return {Identity(count.Value(), {.name = "value"}, at),
          Identity(count.Updated(graph), {.name = "update_op"}, at)};
}

// Computes true positives / (true positives + `other`).
Metric Ratio(Output labels, Output predictions, const Options& options, std::string_view name,
             const Kind& other, At at) {
  if (!labels || !predictions) return {};
  DropLastDimension(labels, predictions);
  Graph& graph = *labels.graph();
  NameScope scope(graph, ScopeName(options.name, name));
  const Output is = AsBool(labels);
  const Output said = AsBool(predictions);
  const Total right = CountOf(graph, is, said, options.weights, kTruePositives, at);
  const Total wrong = CountOf(graph, is, said, options.weights, other, at);
  const auto ratio = [at](Output r, Output w, std::string_view value_name) {
    return DivNoNan(r, r + w, {.name = value_name}, at);
  };
  return {ratio(right.Value(), wrong.Value(), "value"),
          ratio(right.Updated(graph), wrong.Updated(graph), "update_op")};
}

// Returns a value slightly below 0, the given or evenly spaced thresholds, and a value slightly
// above 1.
std::vector<float> Thresholds(const AucOptions& options) {
  std::vector<float> thresholds = options.thresholds;
  std::sort(thresholds.begin(), thresholds.end());
  const int last = options.num_thresholds - 1;
  for (int i = 1; i < last && options.thresholds.empty(); ++i) {
    thresholds.push_back(static_cast<float>(static_cast<double>(i) / last));
  }
  thresholds.insert(thresholds.begin(), -kThresholdEpsilon);
  thresholds.push_back(1 + kThresholdEpsilon);
  return thresholds;
}

// Counts the results of one kind at each threshold.
struct AtThresholds {
  Output labels;       // bool [1, n]
  Output predictions;  // bool [thresholds, n]
  Output weights;      // float, invalid if there are none
  Graph& graph;
  At at;

  Total Count(const Kind& kind) const {
    const Output is_kind = AsFloat(IsKind(labels, predictions, kind));
    return Total(graph, kind.name, ReduceSum(Weighted(is_kind, weights), 1), at);
  }
};

// The counts of the four kinds at each threshold, in ascending order of the thresholds.
struct Counts {
  Output tp, fn, tn, fp;
};

Output First(Output v, int count) { return Slice(v, {0}, {count - 1}); }
Output Last(Output v) { return Slice(v, {1}, {-1}); }

// Returns the area under the precision-recall curve. Within an interval, the true positives are a
// linear function of all positives p, with slope s through (p, tp) at the higher threshold. So the
// integral of the precision is s * (dtp + (tp - s p) log(p_low / p)).
Output InterpolatedArea(const Counts& n, int count, std::string_view name, At at) {
  const auto not_negative = [](Output x) { return Maximum(x, ZerosLike(x)); };
  const Output positives = n.tp + n.fp;
  const Output low = First(positives, count), high = Last(positives);
  const Output gained = First(n.tp, count) - Last(n.tp);
  const Output slope = DivNoNan(gained, not_negative(low - high));
  const Output intercept = Last(n.tp) - slope * high;
  const Output zero = ZerosLike(high);
  const Output ratio = SelectV2(LogicalAnd(Greater(low, zero), Greater(high, zero)),
                                DivNoNan(low, not_negative(high)), OnesLike(high));
  const Output area =
      DivNoNan(slope * (gained + intercept * Log(ratio)), not_negative(Last(n.tp) + Last(n.fn)));
  return ReduceSum(area, {}, {.name = name}, at);
}

Output Height(Output a, Output b, Summation summation) {
  switch (summation) {
    case Summation::kMinoring:
      return Minimum(a, b);
    case Summation::kMajoring:
      return Maximum(a, b);
    case Summation::kTrapezoidal:
    case Summation::kCarefulInterpolation:
      break;
  }
  return (a + b) / 2.0f;
}

Output Area(const Counts& n, const AucOptions& options, int count, std::string_view name, At at) {
  const bool is_roc = options.curve == Curve::kRoc;
  if (!is_roc && options.summation == Summation::kCarefulInterpolation) {
    return InterpolatedArea(n, count, name, at);
  }
  const Output recall = (n.tp + kRatioEpsilon) / (n.tp + n.fn + kRatioEpsilon);
  const Output x = is_roc ? n.fp / (n.fp + n.tn + kRatioEpsilon) : recall;
  const Output y = is_roc ? recall : (n.tp + kRatioEpsilon) / (n.tp + n.fp + kRatioEpsilon);
  return ReduceSum(
      (First(x, count) - Last(x)) * Height(First(y, count), Last(y), options.summation), {},
      {.name = name}, at);
}

}  // namespace

Metric Mean(Output values, const Options& options, At at) {
  return MeanInScope(values, options.weights, ScopeName(options.name, "mean"), at);
}

Metric Accuracy(Output labels, Output predictions, const Options& options, At at) {
  if (!labels || !predictions) return {};
  DropLastDimension(labels, predictions);
  if (labels.dtype() != predictions.dtype()) predictions = Cast(predictions, labels.dtype());
  return MeanInScope(Cast(Equal(predictions, labels), DT_FLOAT), options.weights,
                     ScopeName(options.name, "accuracy"), at);
}

Metric MeanSquaredError(Output labels, Output predictions, const Options& options, At at) {
  if (!labels || !predictions) return {};
  DropLastDimension(labels, predictions);
  return MeanInScope(Square(AsFloat(labels) - AsFloat(predictions)), options.weights,
                     ScopeName(options.name, "mean_squared_error"), at);
}

Metric RootMeanSquaredError(Output labels, Output predictions, const Options& options, At at) {
  Options inner = options;
  const std::string name = ScopeName(options.name, "root_mean_squared_error");
  inner.name = name;
  const Metric mean = MeanSquaredError(labels, predictions, inner, at);
  if (!mean.value) return {};
  return {Sqrt(mean.value, {}, at), Sqrt(mean.update, {}, at)};
}

Metric MeanAbsoluteError(Output labels, Output predictions, const Options& options, At at) {
  if (!labels || !predictions) return {};
  DropLastDimension(labels, predictions);
  return MeanInScope(Abs(AsFloat(labels) - AsFloat(predictions)), options.weights,
                     ScopeName(options.name, "mean_absolute_error"), at);
}

Metric TruePositives(Output labels, Output predictions, const Options& options, At at) {
  return Count(labels, predictions, options, kTruePositives, at);
}
Metric FalsePositives(Output labels, Output predictions, const Options& options, At at) {
  return Count(labels, predictions, options, kFalsePositives, at);
}
Metric TrueNegatives(Output labels, Output predictions, const Options& options, At at) {
  return Count(labels, predictions, options, kTrueNegatives, at);
}
Metric FalseNegatives(Output labels, Output predictions, const Options& options, At at) {
  return Count(labels, predictions, options, kFalseNegatives, at);
}

Metric Precision(Output labels, Output predictions, const Options& options, At at) {
  return Ratio(labels, predictions, options, "precision", kFalsePositives, at);
}
Metric Recall(Output labels, Output predictions, const Options& options, At at) {
  return Ratio(labels, predictions, options, "recall", kFalseNegatives, at);
}

Metric Auc(Output labels, Output predictions, const AucOptions& options, At at) {
  if (!labels || !predictions) return {};
  Graph& graph = *labels.graph();
  if (options.thresholds.empty() && options.num_thresholds < 2) {
    graph.SetError(absl::InvalidArgumentError(
        StrCat("Auc: num_thresholds must be at least 2, got ", options.num_thresholds)));
    return {};
  }
  NameScope scope(graph, ScopeName(options.name, "auc"));
  const std::vector<float> thresholds = Thresholds(options);
  const int count = static_cast<int>(thresholds.size());
  const Output limit = Constant(graph, Tensor::Of<float>({count, 1}, thresholds), "thresholds", at);
  const Output row = Reshape(AsFloat(predictions), {1, -1});
  const Output weights = options.weights && options.weights.shape().rank() != 0
                             ? Reshape(AsFloat(options.weights), {1, -1})
                             : options.weights;
  const AtThresholds at_thresholds = {Reshape(AsBool(labels), {1, -1}), Greater(row, limit),
                                      weights, graph, at};
  const Total tp = at_thresholds.Count(kTruePositives);
  const Total fn = at_thresholds.Count(kFalseNegatives);
  const Total tn = at_thresholds.Count(kTrueNegatives);
  const Total fp = at_thresholds.Count(kFalsePositives);
  const Counts so_far = {tp.Value(), fn.Value(), tn.Value(), fp.Value()};
  const Counts updated = {tp.Updated(graph), fn.Updated(graph), tn.Updated(graph),
                          fp.Updated(graph)};
  return {Area(so_far, options, count, "value", at),
          Area(updated, options, count, "update_op", at)};
}

}  // namespace sluice::metrics
