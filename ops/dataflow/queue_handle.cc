#include "ops/dataflow/queue_handle.h"

#include <optional>

#include "graph/infer/shape_context.h"
#include "graph/status.h"
#include "ops/dataflow/make_queue_builders.h"
#include "ops/dataflow/use_queue_builders.h"
#include "ops/random/random_values.h"

namespace sluice {

Queue Queue::Fifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                  const QueueOptions& options, At at) {
  Queue queue;
  queue.handle_ = FIFOQueueV2(graph, types,
                              {.name = options.name.empty() ? "fifo_queue" : options.name,
                               .shapes = options.shapes,
                               .capacity = capacity,
                               .shared_name = options.shared_name},
                              at);
  queue.types_ = std::move(types);
  queue.shapes_ = options.shapes;
  return queue;
}

Queue Queue::PaddingFifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                         const QueueOptions& options, At at) {
  Queue queue;
  queue.handle_ =
      PaddingFIFOQueueV2(graph, types,
                         {.name = options.name.empty() ? "padding_fifo_queue" : options.name,
                          .shapes = options.shapes,
                          .capacity = capacity,
                          .shared_name = options.shared_name},
                         at);
  queue.types_ = std::move(types);
  queue.shapes_ = options.shapes;
  return queue;
}

Queue Queue::RandomShuffle(Graph& graph, int64_t capacity, int64_t min_after_dequeue,
                           std::vector<DataType> types, const QueueOptions& options, At at) {
  const auto [seed, seed2] = SeedsFor(graph, options.seed);
  Queue queue;
  queue.handle_ =
      RandomShuffleQueueV2(graph, types,
                           {.name = options.name.empty() ? "random_shuffle_queue" : options.name,
                            .shapes = options.shapes,
                            .capacity = capacity,
                            .min_after_dequeue = min_after_dequeue,
                            .seed = seed,
                            .seed2 = seed2,
                            .shared_name = options.shared_name},
                           at);
  queue.types_ = std::move(types);
  queue.shapes_ = options.shapes;
  return queue;
}

Queue Queue::Priority(Graph& graph, int64_t capacity, std::vector<DataType> types,
                      const QueueOptions& options, At at) {
  Queue queue;
  queue.handle_ = PriorityQueueV2(graph, options.shapes,
                                  {.name = options.name.empty() ? "priority_queue" : options.name,
                                   .component_types = types,
                                   .capacity = capacity,
                                   .shared_name = options.shared_name},
                                  at);
  queue.types_ = std::move(types);
  queue.types_.insert(queue.types_.begin(), DT_INT64);
  queue.shapes_ = options.shapes;
  queue.shapes_.insert(queue.shapes_.begin(), PartialShape::Scalar());
  return queue;
}

// The queue's name without its scopes: the op is named in the scope that is open now.
std::string Queue::Name(std::string_view name, std::string_view suffix) const {
  if (!name.empty()) return std::string(name);
  const std::string& own = this->name();
  return StrCat(own.substr(own.rfind('/') + 1), suffix);
}

// The shapes that the queue was declared with, which the dequeue ops themselves do not know.
OutputList Queue::Typed(OutputList components, Output batch) const {
  for (size_t i = 0; i < components.size() && i < shapes_.size(); ++i) {
    if (!components[i]) continue;
    PartialShape shape = shapes_[i];
    if (batch) {
      const std::optional<Tensor> n = ConstantValue(batch);
      shape = PartialShape({n && n->dtype() == DT_INT32 ? n->scalar<int32_t>() : -1})
                  .Concatenate(shape);
    }
    components[i].node->set_output_shape(components[i].index, shape);
  }
  return components;
}

Operation Queue::Enqueue(const OutputList& components, std::string_view name, At at) const {
  return QueueEnqueueV2(handle_, components, {.name = Name(name, "_enqueue")}, at);
}
Operation Queue::EnqueueMany(const OutputList& components, std::string_view name, At at) const {
  return QueueEnqueueManyV2(handle_, components, {.name = Name(name, "_EnqueueMany")}, at);
}
OutputList Queue::Dequeue(std::string_view name, At at) const {
  return Typed(QueueDequeueV2(handle_, types_, {.name = Name(name, "_Dequeue")}, at), {});
}
OutputList Queue::DequeueMany(Output n, std::string_view name, At at) const {
  return Typed(QueueDequeueManyV2(handle_, n, types_, {.name = Name(name, "_DequeueMany")}, at), n);
}
OutputList Queue::DequeueUpTo(Output n, std::string_view name, At at) const {
  // How many come is known only when they do.
  OutputList batch =
      QueueDequeueUpToV2(handle_, n, types_, {.name = Name(name, "_DequeueUpTo")}, at);
  for (size_t i = 0; i < batch.size() && i < shapes_.size(); ++i) {
    if (batch[i])
      batch[i].node->set_output_shape(batch[i].index, PartialShape({-1}).Concatenate(shapes_[i]));
  }
  return batch;
}
Operation Queue::Close(bool cancel_pending_enqueues, std::string_view name, At at) const {
  return QueueCloseV2(
      handle_, {.name = Name(name, "_Close"), .cancel_pending_enqueues = cancel_pending_enqueues},
      at);
}
Output Queue::IsClosed(std::string_view name, At at) const {
  return QueueIsClosedV2(handle_, {.name = Name(name, "_Is_Closed")}, at);
}
Output Queue::Size(std::string_view name, At at) const {
  return QueueSizeV2(handle_, {.name = Name(name, "_Size")}, at);
}

}  // namespace sluice
