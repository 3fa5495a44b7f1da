// Queues of tensors between steps in a graph that is built, with the nodes and names of tf.queue.*.
//
//   Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {{28, 28}}});
//   Operation put = queue.Enqueue({image});
//   OutputList got = queue.Dequeue();
//
// A Queue is a small handle that can be copied. Errors stay in the graph. ops/dataflow/queue.h has
// the semantics of queues.
#ifndef SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_
#define SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

struct QueueOptions {
  std::vector<PartialShape> shapes;  // of the components. Empty for any
  std::string name;                  // "" for the default of the kind: "fifo_queue"
  std::string shared_name;           // graphs on the same devices share the queue of this name
  std::optional<int64_t> seed;       // for RandomShuffle
};

class Queue {
 public:
  Queue() = default;  // no queue: its handle is invalid
  // First in, first out. At most `capacity` elements, or any number if it is negative.
  static Queue Fifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                    const QueueOptions& options = {}, At at = At::current());
  // The same, but sizes that are -1 in the shapes may differ between elements. Batches are padded.
  static Queue PaddingFifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                           const QueueOptions& options, At at = At::current());
  // Random order. `min_after_dequeue` elements stay in the queue while it is open.
  static Queue RandomShuffle(Graph& graph, int64_t capacity, int64_t min_after_dequeue,
                             std::vector<DataType> types, const QueueOptions& options = {},
                             At at = At::current());
  // Smallest priority first. The priority is an additional first component, an int64 scalar.
  static Queue Priority(Graph& graph, int64_t capacity, std::vector<DataType> types,
                        const QueueOptions& options = {}, At at = At::current());

  Output handle() const { return handle_; }
  const std::string& name() const { return Operation(handle_).name(); }

  // Enqueues one element, with a tensor per component.
  Operation Enqueue(const OutputList& components, std::string_view name = "",
                    At at = At::current()) const;
  // Enqueues a batch, whose dimension 0 counts the elements.
  Operation EnqueueMany(const OutputList& components, std::string_view name = "",
                        At at = At::current()) const;
  OutputList Dequeue(std::string_view name = "", At at = At::current()) const;
  // Dequeues n elements, stacked. The component shapes must be known.
  OutputList DequeueMany(Output n, std::string_view name = "", At at = At::current()) const;
  OutputList DequeueUpTo(Output n, std::string_view name = "", At at = At::current()) const;
  Operation Close(bool cancel_pending_enqueues = false, std::string_view name = "",
                  At at = At::current()) const;
  Output IsClosed(std::string_view name = "", At at = At::current()) const;
  Output Size(std::string_view name = "", At at = At::current()) const;

  // Returns the number of elements that `node` puts into this queue, or 0 if it is known only in
  // the step. Returns nothing if the node does not enqueue to it.
  std::optional<int64_t> NumEnqueuedBy(const Node& node) const;

 private:
  Queue(Output handle, std::vector<DataType> types, std::vector<PartialShape> shapes);
  std::string Name(std::string_view name, std::string_view suffix) const;
  OutputList Typed(OutputList components, const PartialShape& leading) const;

  Output handle_;
  std::vector<DataType> types_;
  std::vector<PartialShape> shapes_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_
