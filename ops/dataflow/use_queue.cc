// Ops that enqueue to and dequeue from queues.
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the component shapes with which the queue was made, if the op that made it is known.
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

// Sets the shapes of the outputs to `leading`, followed by the shapes of the components.
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
  SLUICE_INVALID_IF(count < 0, "Input 'n' must be >= 0, but is ", count);
  return SetShapes(c, {count});
}

void UsesRefQueue(OpDefBuilder& op) { op.RefInput("handle", DT_STRING).NotDifferentiable(); }

void UsesQueue(OpDefBuilder& op) { op.Input("handle", DT_RESOURCE).Stateful(); }

void Enqueues(OpDefBuilder& op) {
  op.Input("components", "Tcomponents")
      .Attr("Tcomponents", TypeListAttr().Min(1))
      .Attr("timeout_ms", IntAttr(-1))
      .Shape(NoOutputs());
}

void Dequeues(OpDefBuilder& op) {
  op.Output("components", "component_types")
      .Attr("component_types", TypeListAttr().Min(1))
      .Attr("timeout_ms", IntAttr(-1))
      .Shape(DequeueShape);
}

void DequeuesMany(OpDefBuilder& op) {
  op.Input("n", DT_INT32).With(Dequeues).Shape(DequeueManyShape);
}

void DequeuesUpTo(OpDefBuilder& op) {
  op.Input("n", DT_INT32).With(Dequeues).Shape(DequeueUpToShape);
}

void Closes(OpDefBuilder& op) {
  op.Attr("cancel_pending_enqueues", BoolAttr(false)).Shape(NoOutputs());
}

OP(QueueEnqueue, "QueueEnqueueV2 with a reference handle.").With(UsesRefQueue).With(Enqueues);

OP(QueueEnqueueV2, "Enqueues an element. Waits while the queue is full. CANCELLED if it is closed.")
    .With(UsesQueue)
    .With(Enqueues);

OP(QueueEnqueueMany, "QueueEnqueueManyV2 with a reference handle.")
    .With(UsesRefQueue)
    .With(Enqueues);

OP(QueueEnqueueManyV2,
   "Enqueues row i of every component as element i, one by one as capacity becomes free. CANCELLED "
   "if the queue is closed. Elements that were enqueued before stay.")
    .With(UsesQueue)
    .With(Enqueues);

OP(QueueDequeue, "QueueDequeueV2 with a reference handle.").With(UsesRefQueue).With(Dequeues);

OP(QueueDequeueV2,
   "Dequeues an element. Waits while there is none. OUT_OF_RANGE if the queue is closed and empty.")
    .With(UsesQueue)
    .With(Dequeues);

OP(QueueDequeueMany, "QueueDequeueManyV2 with a reference handle.")
    .With(UsesRefQueue)
    .With(DequeuesMany);

OP(QueueDequeueManyV2,
   "Dequeues `n` elements and stacks them along a new first dimension. Waits for them. "
   "OUT_OF_RANGE if the queue is closed and has fewer, which then stay.")
    .With(UsesQueue)
    .With(DequeuesMany);

OP(QueueDequeueUpTo, "QueueDequeueUpToV2 with a reference handle.")
    .With(UsesRefQueue)
    .With(DequeuesUpTo);

OP(QueueDequeueUpToV2,
   "Dequeues as QueueDequeueManyV2 does, but returns the remaining elements of a closed queue. "
   "OUT_OF_RANGE if there is none.")
    .With(UsesQueue)
    .With(DequeuesUpTo);

OP(QueueClose, "QueueCloseV2 with a reference handle.").With(UsesRefQueue).With(Closes);

OP(QueueCloseV2,
   "Closes the queue for enqueuing. Its elements can still be dequeued. Takes effect after waiting "
   "enqueues, unless `cancel_pending_enqueues` cancels them.")
    .With(UsesQueue)
    .With(Closes);

OP(QueueIsClosed, "QueueIsClosedV2 with a reference handle.")
    .RefInput("handle", DT_STRING)
    .Output("is_closed", DT_BOOL)
    .Shape(ScalarOutput());

OP(QueueIsClosedV2, "Returns whether the queue has been closed.")
    .With(UsesQueue)
    .Output("is_closed", DT_BOOL)
    .Shape(ScalarOutput());

OP(QueueSize, "QueueSizeV2 with a reference handle.")
    .With(UsesRefQueue)
    .Output("size", DT_INT32)
    .Shape(ScalarOutput());

OP(QueueSizeV2, "Returns the number of elements in the queue.")
    .With(UsesQueue)
    .Output("size", DT_INT32)
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
