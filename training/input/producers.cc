#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/constant.h"
#include "ops/builders/number_ops.h"
#include "ops/control/builders.h"
#include "ops/indexing/subscript.h"
#include "ops/math/builders.h"
#include "ops/random/builders.h"
#include "ops/random/random_values.h"
#include "ops/state/builders.h"
#include "ops/state/variable.h"
#include "training/input/input.h"
#include "training/loop/queue_runner.h"
#include "training/summary/summary.h"

namespace sluice::input {
namespace {

// Adds an Assert with the same constants as tf.Assert.
Operation AssertTrue(Graph& g, Output condition, const std::string& message, At at) {
  constexpr std::string_view kName = "Assert";
  const NameScope scope(g, kName);
  Constant(g, message, {}, at);
  const NameScope inner(g, kName);
  return Assert(condition, {Constant(g, message, "data_0", at)}, {.name = inner.prefix()}, at);
}

// Adds a queue and its runner. The caller has opened the producer's scope, whose prefix is also the
// queue's name.
Queue Produce(Graph& g, const std::string& scope, Output tensor, const PartialShape& element_shape,
              const ProducerOptions& options, std::string_view summary_name, At at) {
  if (!tensor) return {};
  PartialShape rows = PartialShape::UnknownRank();
  if (tensor.shape().rank_known() && tensor.shape().rank() > 0) {
    rows = PartialShape(tensor.shape().dims().subspan(1));
  }
  const absl::StatusOr<PartialShape> element = rows.MergeWith(element_shape);
  if (!element.ok() || !element->IsFullyDefined()) {
    g.SetError(element.ok()
                   ? InvalidArgument("Either `input_tensor` must have a fully defined shape "
                                     "or `element_shape` must be specified, got rows of "
                                     "shape ",
                                     element->ToString())
                   : element.status(),
               at);
    return {};
  }
  if (options.shuffle) {
    const auto [seed, seed2] = SeedsFor(g, options.seed);
    tensor = RandomShuffle(tensor, {.seed = seed, .seed2 = seed2}, at);
  }
  tensor = LimitEpochs(tensor, options.num_epochs, "", at);
  if (!tensor) return {};
  const Queue queue =
      Queue::Fifo(g, options.capacity, {BaseType(tensor.dtype())},
                  {.shapes = {*element}, .name = scope, .shared_name = options.shared_name}, at);
  const Operation enqueue = queue.EnqueueMany({tensor}, "", at);
  absl::StatusOr<QueueRunner> runner = QueueRunner::Of(queue, {enqueue});
  if (!runner.ok()) {
    g.SetError(runner.status());
    return {};
  }
  if (options.cancel_op) runner->cancel_op = options.cancel_op;
  AddQueueRunner(g, *runner);
  if (!summary_name.empty()) {
    const Output size = queue.Size("", at);
    const Output full = Cast(size, DT_FLOAT, {}, at);
    summary::Scalar(summary_name, full * (1.0 / static_cast<double>(options.capacity)), {}, at);
  }
  return queue;
}

std::string ScopeName(const ProducerOptions& options) {
  return options.name.empty() ? "input_producer" : options.name;
}

std::string FullSummary(const ProducerOptions& options) {
  return StrCat("fraction_of_", options.capacity, "_full");
}

Queue ProduceStrings(Graph& g, const std::string& scope, Output strings,
                     const ProducerOptions& options, At at) {
  if (!strings) return {};
  const Output any = Greater(SizeOf(strings, {}, at), Operand(0, at));
  const Operation checked =
      AssertTrue(g, any, "string_input_producer requires a non-null input tensor", at);
  {
    const ControlDependencies after(g, {checked});
    strings = Identity(strings, {}, at);
  }
  return Produce(g, scope, strings, PartialShape::Scalar(), options, FullSummary(options), at);
}

}  // namespace

Output LimitEpochs(Output tensor, std::optional<int64_t> num_epochs, std::string_view name, At at) {
  if (!tensor || !num_epochs.has_value()) return tensor;
  Graph& g = *tensor.graph();
  if (*num_epochs <= 0) {
    g.SetError(InvalidArgument("num_epochs must be > 0 not ", *num_epochs, "."), at);
    return {};
  }
  const NameScope scope(g, name.empty() ? "limit_epochs" : name);
  const Variable epochs(g, "epochs", Constant(g, int64_t{0}, {}, at),
                        {.dtype = DT_INT64,
                         .trainable = false,
                         .use_resource = false,
                         .collections = {std::string(kLocalVariables)}},
                        at);
  const Output counted = CountUpTo(epochs.Ref(), *num_epochs, {}, at);
  const ControlDependencies after(g, {counted});
  return Identity(tensor, {.name = scope.prefix()}, at);
}

Queue InputProducer(Output tensor, const PartialShape& element_shape,
                    const ProducerOptions& options, std::string_view summary_name, At at) {
  if (!tensor) return {};
  Graph& g = *tensor.graph();
  const NameScope scope(g, ScopeName(options));
  return Produce(g, scope.prefix(), tensor, element_shape, options, summary_name, at);
}

Queue StringInputProducer(Output strings, const ProducerOptions& options, At at) {
  if (!strings) return {};
  Graph& g = *strings.graph();
  const NameScope scope(g, ScopeName(options));
  return ProduceStrings(g, scope.prefix(), strings, options, at);
}

Queue StringInputProducer(Graph& g, const std::vector<std::string>& strings,
                          const ProducerOptions& options, At at) {
  if (strings.empty()) {
    g.SetError(InvalidArgument("string_input_producer requires a non-null input tensor"), at);
    return {};
  }
  const NameScope scope(g, ScopeName(options));
  return ProduceStrings(g, scope.prefix(), Constant(g, strings, {}, at), options, at);
}

Queue RangeInputProducer(Output limit, const ProducerOptions& options, At at) {
  if (!limit) return {};
  Graph& g = *limit.graph();
  const NameScope scope(g, ScopeName(options));
  return Produce(g, scope.prefix(), Range(limit, "range", at), PartialShape::Scalar(), options,
                 FullSummary(options), at);
}

Queue RangeInputProducer(Graph& g, int32_t limit, const ProducerOptions& options, At at) {
  const NameScope scope(g, ScopeName(options));
  Output numbers;
  {
    const NameScope range(g, "range");
    const Output start = Constant(g, int32_t{0}, "start", at);
    const Output end = Constant(g, limit, "limit", at);
    const Output delta = Constant(g, int32_t{1}, "delta", at);
    numbers = Range(start, end, delta, {.name = range.prefix()}, at);
  }
  return Produce(g, scope.prefix(), numbers, PartialShape::Scalar(), options, FullSummary(options),
                 at);
}

OutputList SliceInputProducer(const OutputList& tensors, const ProducerOptions& options, At at) {
  Graph* graph = GraphOf({}, {&tensors});
  if (graph == nullptr) return {};
  Graph& g = *graph;
  const NameScope scope(g, ScopeName(options));
  const Output rows = ElementAt(ShapeOf(tensors[0], {}, at), 0, "strided_slice", at);
  ProducerOptions inner = options;
  inner.name = "";
  const Queue queue = RangeInputProducer(rows, inner, at);
  if (!queue.handle()) return {};
  const OutputList index = queue.Dequeue("", at);
  OutputList slices;
  for (const Output& tensor : tensors) {
    slices.push_back(Gather(tensor, index[0], 0, "", at));
  }
  return slices;
}

}  // namespace sluice::input
