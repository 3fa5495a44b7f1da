#include <functional>

#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"
#include "ops/builders/constant.h"
#include "ops/builders/number_ops.h"
#include "ops/control/builders.h"
#include "ops/indexing/builders.h"
#include "ops/math/builders.h"
#include "training/input/input.h"
#include "training/loop/queue_runner.h"
#include "training/summary/summary.h"

namespace sluice::input {
namespace {

using Lists = std::vector<OutputList>;

// The parameters of a batch function, which has one list of tensors and several threads, or several
// lists.
struct Plan {
  std::string scope;
  Output keep;  // invalid if all elements are kept
  int num_threads = 1;
  bool enqueue_many = false;
  bool dynamic_pad = false;
  bool smaller_final_batch = false;
  std::vector<PartialShape> shapes;
  // Functions that create the queue, and the summary of its fill level.
  std::function<Queue(const std::vector<DataType>&, const std::vector<PartialShape>&)> make_queue;
  std::function<void(const Queue&)> summarize;
};

absl::Status CheckLists(const Lists& lists) {
  SLUICE_INVALID_IF(lists.empty() || lists[0].empty(), "Expected at least one tensor in batch().");
  for (const OutputList& list : lists) {
    SLUICE_INVALID_IF(list.size() != lists[0].size(), "expected ", lists[0].size(),
                      " tensors in each list, got ", list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (BaseType(list[i].dtype()) == BaseType(lists[0][i].dtype())) continue;
      return InvalidArgument("expected tensors of type ", DataTypeName(lists[0][i].dtype()),
                             " as component ", i, ", got ", DataTypeName(list[i].dtype()));
    }
  }
  return absl::OkStatus();
}

// Returns the shape of component `i`. It is from the plan, or the common shape of the tensors of
// all lists.
absl::StatusOr<PartialShape> ElementShape(const Lists& lists, size_t i, const Plan& plan) {
  if (!plan.shapes.empty()) return plan.shapes[i];
  PartialShape merged = PartialShape::UnknownRank();
  for (const OutputList& list : lists) {
    PartialShape shape = list[i].shape();
    if (shape.rank_known() && plan.enqueue_many) {
      SLUICE_INVALID_IF(shape.rank() == 0, "Shape ", shape.ToString(),
                        " must have rank at least 1");
      shape = PartialShape(shape.dims().subspan(1));
    }
    SLUICE_ASSIGN_OR_RETURN(const PartialShape both, merged.MergeWith(shape));
    if (&list == &lists[0]) merged = both;
  }
  return merged;
}

absl::StatusOr<std::vector<PartialShape>> ElementShapes(const Lists& lists, const Plan& plan) {
  SLUICE_INVALID_IF(!plan.shapes.empty() && plan.shapes.size() != lists[0].size(),
                    "expected as many shapes as tensors (", lists[0].size(), "), got ",
                    plan.shapes.size());
  std::vector<PartialShape> shapes;
  std::string text;
  bool known = true;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, ElementShape(lists, i, plan));
    known = known && (plan.dynamic_pad ? shape.rank_known() : shape.IsFullyDefined());
    StrAppend(&text, text.empty() ? "" : ", ", shape.ToString());
    shapes.push_back(std::move(shape));
  }
  if (known) return shapes;
  return InvalidArgument(plan.dynamic_pad ? "All shapes must have a defined rank: ["
                                          : "All shapes must be fully defined: [",
                         text, "]");
}

// Adds an enqueue of the tensors that plan.keep selects. If plan.keep is a constant, decides now
// whether to enqueue. Otherwise a cond decides in each step.
Operation EnqueueIf(const Queue& queue, const OutputList& tensors, const Plan& plan, At at) {
  const auto enqueue = [&](const OutputList& elements) {
    return plan.enqueue_many ? queue.EnqueueMany(elements, "", at)
                             : queue.Enqueue(elements, "", at);
  };
  if (!plan.keep) return enqueue(tensors);
  Graph& g = *plan.keep.graph();
  if (plan.keep.shape().rank_known() && plan.keep.shape().rank() == 1) {
    const Output part = Cast(plan.keep, DT_INT32, {}, at);
    OutputList kept;
    for (const Output& tensor : tensors) {
      kept.push_back(DynamicPartition(tensor, part, 2, {}, at)[1]);
    }
    return enqueue(kept);
  }
  const auto nothing = [&] { return NoOp(g, {}, at); };
  if (const std::optional<Tensor> value = ConstantValue(plan.keep); value.has_value()) {
    return value->scalar<bool>() ? enqueue(tensors) : nothing();
  }
  const OutputList done = Cond(
      plan.keep, [&] { return BranchResult(enqueue(tensors)); },
      [&] { return BranchResult(nothing()); }, "cond", at);
  return done.empty() ? Operation() : Operation(done[0]);
}

absl::Status CheckKeep(const Plan& plan) {
  if (!plan.keep) return absl::OkStatus();
  const PartialShape& shape = plan.keep.shape();
  SLUICE_INVALID_IF(!shape.rank_known(), "`keep_input` dimensions must be known.");
  SLUICE_INVALID_IF(shape.rank() > 1, "`keep_input` must be a scalar or vector, got shape ",
                    shape.ToString());
  SLUICE_INVALID_IF(BaseType(plan.keep.dtype()) != DT_BOOL, "`keep_input` must be a bool, got ",
                    DataTypeName(plan.keep.dtype()));
  SLUICE_INVALID_IF(shape.rank() == 1 && !plan.enqueue_many,
                    "`keep_input` cannot be a vector when `enqueue_many=False`.");
  return absl::OkStatus();
}

absl::StatusOr<Queue> Fill(Graph& g, const Lists& lists, const Plan& plan, At at) {
  SLUICE_RETURN_IF_ERROR(CheckLists(lists));
  SLUICE_RETURN_IF_ERROR(CheckKeep(plan));
  SLUICE_INVALID_IF(plan.num_threads < 1, "num_threads must be > 0 not ", plan.num_threads, ".");
  SLUICE_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, ElementShapes(lists, plan));
  std::vector<DataType> types;
  for (const Output& tensor : lists[0]) types.push_back(BaseType(tensor.dtype()));
  const Queue queue = plan.make_queue(types, shapes);
  std::vector<Operation> enqueues;
  for (const OutputList& list : lists) enqueues.push_back(EnqueueIf(queue, list, plan, at));
  if (lists.size() == 1) enqueues.resize(static_cast<size_t>(plan.num_threads), enqueues[0]);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(const QueueRunner runner, QueueRunner::Of(queue, enqueues));
  AddQueueRunner(g, runner);
  return queue;
}

// Adds the queue, its runner, its summary and the dequeued batch.
OutputList MakeBatch(Graph& g, const Lists& lists, int batch_size, const Plan& plan, At at) {
  const absl::StatusOr<Queue> queue = Fill(g, lists, plan, at);
  if (!queue.ok()) {
    g.SetError(queue.status(), at);
    return {};
  }
  plan.summarize(*queue);
  const Output n = Constant(g, batch_size, "n", at);
  return plan.smaller_final_batch ? queue->DequeueUpTo(n, plan.scope, at)
                                  : queue->DequeueMany(n, plan.scope, at);
}

Output AsFloat(Output x, At at) { return Cast(x, DT_FLOAT, {}, at); }

OutputList BatchOf(const Lists& lists, Output keep, bool is_maybe, int batch_size,
                   std::string_view name, const BatchOptions& options, At at) {
  Graph* graph = lists.empty() ? nullptr : GraphOf({}, {&lists[0]});
  if (graph == nullptr || (is_maybe && !keep)) return {};
  Graph& g = *graph;
  const NameScope scope(g, options.name.empty() ? name : options.name);
  if (!is_maybe) Constant(g, true, {}, at);  // TensorFlow adds this constant as keep_input
  Plan plan;
  plan.scope = scope.prefix();
  plan.keep = keep;
  plan.num_threads = options.num_threads;
  plan.enqueue_many = options.enqueue_many;
  plan.dynamic_pad = options.dynamic_pad;
  plan.smaller_final_batch = options.allow_smaller_final_batch;
  plan.shapes = options.shapes;
  plan.make_queue = [&](const std::vector<DataType>& types,
                        const std::vector<PartialShape>& shapes) {
    const QueueOptions queue = {.shapes = shapes, .shared_name = options.shared_name};
    return options.dynamic_pad ? Queue::PaddingFifo(g, options.capacity, types, queue, at)
                               : Queue::Fifo(g, options.capacity, types, queue, at);
  };
  plan.summarize = [&](const Queue& queue) {
    const Output full = AsFloat(queue.Size("", at), at);
    summary::Scalar(StrCat("fraction_of_", options.capacity, "_full"),
                    full * (1.0 / static_cast<double>(options.capacity)), {}, at);
  };
  return MakeBatch(g, lists, batch_size, plan, at);
}

OutputList ShuffledOf(const Lists& lists, Output keep, bool is_maybe, int batch_size,
                      int64_t capacity, int64_t minimum, std::string_view name,
                      const ShuffleOptions& options, At at) {
  Graph* graph = lists.empty() ? nullptr : GraphOf({}, {&lists[0]});
  if (graph == nullptr || (is_maybe && !keep)) return {};
  Graph& g = *graph;
  const NameScope scope(g, options.name.empty() ? name : options.name);
  if (capacity <= minimum) {
    g.SetError(InvalidArgument("capacity ", capacity, " must be bigger than min_after_dequeue ",
                               minimum, "."),
               at);
    return {};
  }
  if (!is_maybe) Constant(g, true, {}, at);  // TensorFlow adds this constant as keep_input
  Plan plan;
  plan.scope = scope.prefix();
  plan.keep = keep;
  plan.num_threads = options.num_threads;
  plan.enqueue_many = options.enqueue_many;
  plan.smaller_final_batch = options.allow_smaller_final_batch;
  plan.shapes = options.shapes;
  plan.make_queue = [&](const std::vector<DataType>& types,
                        const std::vector<PartialShape>& shapes) {
    return Queue::RandomShuffle(
        g, capacity, minimum, types,
        {.shapes = shapes, .shared_name = options.shared_name, .seed = options.seed}, at);
  };
  plan.summarize = [&](const Queue& queue) {
    const Output over = queue.Size("", at) - static_cast<int32_t>(minimum);
    const Output positive = Maximum(Operand(0, at), over);
    const auto room = static_cast<double>(capacity - minimum);
    summary::Scalar(StrCat("fraction_over_", minimum, "_of_", capacity - minimum, "_full"),
                    AsFloat(positive, at) * (1.0 / room), {}, at);
  };
  return MakeBatch(g, lists, batch_size, plan, at);
}

}  // namespace

OutputList Batch(const OutputList& tensors, int batch_size, const BatchOptions& options, At at) {
  return BatchOf({tensors}, {}, false, batch_size, "batch", options, at);
}
OutputList MaybeBatch(const OutputList& tensors, Output keep, int batch_size,
                      const BatchOptions& options, At at) {
  return BatchOf({tensors}, keep, true, batch_size, "batch", options, at);
}
OutputList BatchJoin(const std::vector<OutputList>& tensors, int batch_size,
                     const BatchOptions& options, At at) {
  return BatchOf(tensors, {}, false, batch_size, "batch_join", options, at);
}
OutputList MaybeBatchJoin(const std::vector<OutputList>& tensors, Output keep, int batch_size,
                          const BatchOptions& options, At at) {
  return BatchOf(tensors, keep, true, batch_size, "batch_join", options, at);
}

OutputList ShuffleBatch(const OutputList& tensors, int batch_size, int64_t capacity,
                        int64_t min_after_dequeue, const ShuffleOptions& options, At at) {
  return ShuffledOf({tensors}, {}, false, batch_size, capacity, min_after_dequeue, "shuffle_batch",
                    options, at);
}
OutputList MaybeShuffleBatch(const OutputList& tensors, Output keep, int batch_size,
                             int64_t capacity, int64_t min_after_dequeue,
                             const ShuffleOptions& options, At at) {
  return ShuffledOf({tensors}, keep, true, batch_size, capacity, min_after_dequeue, "shuffle_batch",
                    options, at);
}
OutputList ShuffleBatchJoin(const std::vector<OutputList>& tensors, int batch_size,
                            int64_t capacity, int64_t min_after_dequeue,
                            const ShuffleOptions& options, At at) {
  return ShuffledOf(tensors, {}, false, batch_size, capacity, min_after_dequeue,
                    "shuffle_batch_join", options, at);
}
OutputList MaybeShuffleBatchJoin(const std::vector<OutputList>& tensors, Output keep,
                                 int batch_size, int64_t capacity, int64_t min_after_dequeue,
                                 const ShuffleOptions& options, At at) {
  return ShuffledOf(tensors, keep, true, batch_size, capacity, min_after_dequeue,
                    "shuffle_batch_join", options, at);
}

}  // namespace sluice::input
