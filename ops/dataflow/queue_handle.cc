#include "ops/dataflow/queue_handle.h"

#include <optional>

#include "graph/infer/shape_context.h"
#include "graph/status.h"
#include "ops/dataflow/make_queue_builders.h"
#include "ops/dataflow/use_queue_builders.h"
#include "ops/random/random_values.h"

namespace sluice {

Queue::Queue(Output handle, std::vector<DataType> types, std::vector<PartialShape> shapes)
    : handle_(handle), types_(std::move(types)), shapes_(std::move(shapes)) {}

Queue Queue::Fifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                  const QueueOptions& options, At at) {
  const Output handle = FIFOQueueV2(graph, types,
                                    {.name = options.name.empty() ? "fifo_queue" : options.name,
                                     .shapes = options.shapes,
                                     .capacity = capacity,
                                     .shared_name = options.shared_name},
                                    at);
  return Queue(handle, std::move(types), options.shapes);
}

Queue Queue::PaddingFifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                         const QueueOptions& options, At at) {
  const Output handle =
      PaddingFIFOQueueV2(graph, types,
                         {.name = options.name.empty() ? "padding_fifo_queue" : options.name,
                          .shapes = options.shapes,
                          .capacity = capacity,
                          .shared_name = options.shared_name},
                         at);
  return Queue(handle, std::move(types), options.shapes);
}

Queue Queue::RandomShuffle(Graph& graph, int64_t capacity, int64_t min_after_dequeue,
                           std::vector<DataType> types, const QueueOptions& options, At at) {
  const auto [seed, seed2] = SeedsFor(graph, options.seed);
  const Output handle =
      RandomShuffleQueueV2(graph, types,
                           {.name = options.name.empty() ? "random_shuffle_queue" : options.name,
                            .shapes = options.shapes,
                            .capacity = capacity,
                            .min_after_dequeue = min_after_dequeue,
                            .seed = seed,
                            .seed2 = seed2,
                            .shared_name = options.shared_name},
                           at);
  return Queue(handle, std::move(types), options.shapes);
}

Queue Queue::Priority(Graph& graph, int64_t capacity, std::vector<DataType> types,
                      const QueueOptions& options, At at) {
  const Output handle =
      PriorityQueueV2(graph, options.shapes,
                      {.name = options.name.empty() ? "priority_queue" : options.name,
                       .component_types = types,
                       .capacity = capacity,
                       .shared_name = options.shared_name},
                      at);
  std::vector<PartialShape> shapes = options.shapes;
  types.insert(types.begin(), DT_INT64);
  shapes.insert(shapes.begin(), PartialShape::Scalar());
  return Queue(handle, std::move(types), std::move(shapes));
}

// Returns the default name of a node: the queue's name, but without its scopes, because the node is
// named in the current scope.
std::string Queue::Name(std::string_view name, std::string_view suffix) const {
  if (!name.empty()) return std::string(name);
  const std::string& own = this->name();
  return StrCat(own.substr(own.rfind('/') + 1), suffix);
}

// Gives the components the shapes with which the queue was declared, because the dequeue ops do not
// know them.
OutputList Queue::Typed(OutputList components, const PartialShape& leading) const {
  for (size_t i = 0; i < components.size() && i < shapes_.size(); ++i) {
    if (!components[i]) continue;
    components[i].node->set_output_shape(components[i].index, leading.Concatenate(shapes_[i]));
  }
  return components;
}

Operation Queue::Enqueue(const OutputList& components, std::string_view name, At at) const {
  return QueueEnqueueV2(handle_, components, {.name = Name(name, "_enqueue")}, at);
}
Operation Queue::EnqueueMany(const OutputList& components, std::string_view name, At at) const {
  return QueueEnqueueManyV2(handle_, components, {.name = Name(name, "_EnqueueMany")}, at);
}

std::optional<int64_t> Queue::NumEnqueuedBy(const Node& node) const {
  if (node.num_inputs() == 0 || node.input(0) != handle_) return std::nullopt;
  if (node.op() == "QueueEnqueueV2") return 1;
  if (node.op() != "QueueEnqueueManyV2") return std::nullopt;
  const PartialShape& batch = node.input(1).shape();
  return batch.rank() > 0 && batch.dim(0) > 0 ? batch.dim(0) : 0;
}
OutputList Queue::Dequeue(std::string_view name, At at) const {
  return Typed(QueueDequeueV2(handle_, types_, {.name = Name(name, "_Dequeue")}, at),
               PartialShape::Scalar());
}
OutputList Queue::DequeueMany(Output n, std::string_view name, At at) const {
  OutputList batch =
      QueueDequeueManyV2(handle_, n, types_, {.name = Name(name, "_DequeueMany")}, at);
  const std::optional<Tensor> count = n ? ConstantValue(n) : std::nullopt;
  const bool is_known = count.has_value() && count->dtype() == DT_INT32;
  return Typed(std::move(batch), PartialShape({is_known ? count->scalar<int32_t>() : -1}));
}
OutputList Queue::DequeueUpTo(Output n, std::string_view name, At at) const {
  return Typed(QueueDequeueUpToV2(handle_, n, types_, {.name = Name(name, "_DequeueUpTo")}, at),
               PartialShape({-1}));
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
