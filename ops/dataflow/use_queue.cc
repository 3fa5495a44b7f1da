// Elements into queues and out of them.

#include "ops/op.h"

namespace sluice {
namespace {

// The shapes that the queue was made with, where it can be seen from here; nothing else.
std::vector<PartialShape> ComponentShapes(const ShapeContext& c) {
  const Node* source = c.node().input(0).node;
  while (source != nullptr && source->op() == "Identity") source = source->input(0).node;
  if (source == nullptr) return {};
  const auto* shapes = source->FindAttr<std::vector<PartialShape>>("shapes");
  if (shapes == nullptr) return {};
  std::vector<PartialShape> result = *shapes;
  if (source->op().starts_with("PriorityQueue")) {
    result.insert(result.begin(), PartialShape::Scalar());
  }
  return result;
}

// Component shapes with `leading` in front.
absl::Status SetShapes(ShapeContext& c, const std::vector<int64_t>& leading) {
  const std::vector<PartialShape> shapes = ComponentShapes(c);
  const PartialShape front{absl::MakeConstSpan(leading)};
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool known = static_cast<int>(shapes.size()) == c.num_outputs();
    SLUICE_RETURN_IF_ERROR(
        c.SetOutput(i, known ? front.Concatenate(shapes[i]) : PartialShape::UnknownRank()));
  }
  return absl::OkStatus();
}

absl::Status DequeueShape(ShapeContext& c) { return SetShapes(c, {}); }

absl::Status DequeueUpToShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  return SetShapes(c, {PartialShape::kUnknown});
}

absl::Status DequeueManyShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  const std::optional<Tensor> n = c.InputValue(1);
  if (!n.has_value() || n->num_elements() != 1) return SetShapes(c, {PartialShape::kUnknown});
  const int32_t count = n->scalar<int32_t>();
  if (count < 0) return InvalidArgument("Input 'n' must be >= 0, but is ", count);
  return SetShapes(c, {count});
}

OP(QueueEnqueue, "QueueEnqueueV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("components", "Tcomponents")
    .Attr("Tcomponents", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(QueueEnqueueV2,
   "Puts one element into the queue; waits while it is full. CANCELLED when it is closed.")
    .Input("handle", DT_RESOURCE)
    .Input("components", "Tcomponents")
    .Attr("Tcomponents", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .Stateful()
    .Shape(NoOutputs());

OP(QueueEnqueueMany, "QueueEnqueueManyV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("components", "Tcomponents")
    .Attr("Tcomponents", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(QueueEnqueueManyV2,
   "Puts row i of every component into the queue as element i, one by one, as there is room. "
   "CANCELLED when it is closed; what was put in before stays.")
    .Input("handle", DT_RESOURCE)
    .Input("components", "Tcomponents")
    .Attr("Tcomponents", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .Stateful()
    .Shape(NoOutputs());

OP(QueueDequeue, "QueueDequeueV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .NotDifferentiable()
    .Shape(DequeueShape);

OP(QueueDequeueV2,
   "Takes one element; waits while there is none. OUT_OF_RANGE when the queue is closed and "
   "empty.")
    .Input("handle", DT_RESOURCE)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .Stateful()
    .Shape(DequeueShape);

OP(QueueDequeueMany, "QueueDequeueManyV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("n", DT_INT32)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .NotDifferentiable()
    .Shape(DequeueManyShape);

OP(QueueDequeueManyV2,
   "Takes `n` elements, stacked along a new first dimension; waits for them. OUT_OF_RANGE "
   "when the queue is closed with fewer left, which then stay in it.")
    .Input("handle", DT_RESOURCE)
    .Input("n", DT_INT32)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .Stateful()
    .Shape(DequeueManyShape);

OP(QueueDequeueUpTo, "QueueDequeueUpToV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Input("n", DT_INT32)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .NotDifferentiable()
    .Shape(DequeueUpToShape);

OP(QueueDequeueUpToV2,
   "QueueDequeueMany, but once the queue is closed fewer elements will do. OUT_OF_RANGE when "
   "there is none.")
    .Input("handle", DT_RESOURCE)
    .Input("n", DT_INT32)
    .Output("components", "component_types")
    .Attr("component_types", TypeListAttr().Min(1))
    .Attr("timeout_ms", IntAttr(-1))
    .Stateful()
    .Shape(DequeueUpToShape);

OP(QueueClose, "QueueCloseV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Attr("cancel_pending_enqueues", BoolAttr(false))
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(QueueCloseV2,
   "Ends the queue: nothing more goes in; what is in it can still be taken out. Comes after "
   "the enqueues that wait, or ends them with CANCELLED if `cancel_pending_enqueues`.")
    .Input("handle", DT_RESOURCE)
    .Attr("cancel_pending_enqueues", BoolAttr(false))
    .Stateful()
    .Shape(NoOutputs());

OP(QueueIsClosed, "QueueIsClosedV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Output("is_closed", DT_BOOL)
    .Shape(ScalarOutput());

OP(QueueIsClosedV2, "Whether the queue has been closed.")
    .Input("handle", DT_RESOURCE)
    .Output("is_closed", DT_BOOL)
    .Stateful()
    .Shape(ScalarOutput());

OP(QueueSize, "QueueSizeV2 for a queue behind a vector of two strings.")
    .RefInput("handle", DT_STRING)
    .Output("size", DT_INT32)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(QueueSizeV2, "How many elements are in the queue.")
    .Input("handle", DT_RESOURCE)
    .Output("size", DT_INT32)
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
