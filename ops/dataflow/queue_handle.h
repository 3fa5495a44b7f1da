// Queues of tensors between steps, as objects: the nodes and names of tf.queue.*.
//
//   Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {{28, 28}}});
//   Operation put = queue.Enqueue({image});
//   OutputList got = queue.Dequeue();
//
// A small handle that copies freely; errors stay in the graph. Semantics: ops/dataflow.
#ifndef SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_
#define SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

struct QueueOptions {
  std::vector<PartialShape> shapes;  // of the components; empty: any
  std::string name;                  // "" = the kind's, "fifo_queue"
  std::string shared_name;           // sessions on the same devices meet under it
  std::optional<int64_t> seed;       // of a queue that shuffles
};

class Queue {
 public:
  // At most `capacity` elements (negative: no bound), first in, first out.
  static Queue Fifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                    const QueueOptions& options = {}, At at = At::current());

  // The same, but sizes of -1 in the shapes may differ from element to element; a batch is padded.
  static Queue PaddingFifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                           const QueueOptions& options, At at = At::current());
  // Elements come out at random; `min_after_dequeue` stay in it while it is open.
  static Queue RandomShuffle(Graph& graph, int64_t capacity, int64_t min_after_dequeue,
                             std::vector<DataType> types, const QueueOptions& options = {},
                             At at = At::current());
  // The smallest priority first: an int64 scalar that is one component more, in front.
  static Queue Priority(Graph& graph, int64_t capacity, std::vector<DataType> types,
                        const QueueOptions& options = {}, At at = At::current());

  Output handle() const { return handle_; }
  const std::string& name() const { return Operation(handle_).name(); }

  // One element, a tensor a component.
  Operation Enqueue(const OutputList& components, std::string_view name = "",
                    At at = At::current()) const;
  // A batch: dimension 0 counts the elements.
  Operation EnqueueMany(const OutputList& components, std::string_view name = "",
                        At at = At::current()) const;
  OutputList Dequeue(std::string_view name = "", At at = At::current()) const;
  // n elements, stacked; the shapes must be known.
  OutputList DequeueMany(Output n, std::string_view name = "", At at = At::current()) const;
  OutputList DequeueUpTo(Output n, std::string_view name = "", At at = At::current()) const;
  Operation Close(bool cancel_pending_enqueues = false, std::string_view name = "",
                  At at = At::current()) const;
  Output IsClosed(std::string_view name = "", At at = At::current()) const;
  Output Size(std::string_view name = "", At at = At::current()) const;

 private:
  std::string Name(std::string_view name, std::string_view suffix) const;
  OutputList Typed(OutputList components, Output batch) const;

  Output handle_;
  std::vector<DataType> types_;
  std::vector<PartialShape> shapes_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_
