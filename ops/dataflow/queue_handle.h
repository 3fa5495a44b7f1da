// Adds queues and the ops on them to a graph, with the nodes and names of tf.queue.*. A queue
// passes tensors between steps.
//
//   Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {{28, 28}}});
//   Operation put = queue.Enqueue({image});
//   OutputList got = queue.Dequeue();
//
// An element is a tuple of tensors, one per component. A step that enqueues to a full queue waits
// until an element is taken; a step that dequeues from an empty queue waits for an element.
// QueueRunner (training/loop/queue_runner.h) fills a queue from threads of its own.
//
// Thread safety: that of the graph, which one thread at a time builds. Any number of steps may use
// a queue at the same time. Waiting attempts succeed in the order of their arrival.
// Ownership: a Queue is a small handle that can be copied, valid as long as the graph. The elements
// are on the queue's device. They outlive the session if the session's DeviceSet does.
// Errors: errors of building stay in the graph (Graph::status), and the result is then an invalid
// handle. Errors of a step: OUT_OF_RANGE if it dequeues and the queue is closed and has too few
// elements; CANCELLED if it enqueues to a closed queue, or is cancelled while it waits;
// INVALID_ARGUMENT for a wrong type or shape. Reference: tf.queue.QueueBase; ops/dataflow/queue.h
// describes the semantics.
#ifndef SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_
#define SLUICE_OPS_DATAFLOW_QUEUE_HANDLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

struct QueueOptions {
  // The components' shapes, without the dimension of the batch. They must be fully defined, except
  // for PaddingFifo. Empty: any shapes, but DequeueMany is then not possible.
  std::vector<PartialShape> shapes;
  // The name of the node. "": the default for the kind of queue, such as "fifo_queue".
  std::string name;

  // Graphs and sessions on the same devices share the queue of this name. All of them must request
  // the same kind, capacity, types and shapes. "": the node's name.
  std::string shared_name;
  // The seed of RandomShuffle. Without it, the graph's seed applies (Graph::SetRandomSeed).
  std::optional<int64_t> seed;
};

class Queue {
 public:
  // Makes an object that is no queue: its handle is invalid, and its methods return invalid
  // handles.
  Queue() = default;
  // First in, first out. The queue holds at most `capacity` elements, or any number if `capacity`
  // is negative.
  static Queue Fifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                    const QueueOptions& options = {}, At at = At::current());

  // A FIFO queue in which sizes that are -1 in the shapes may differ between elements. DequeueMany
  // and DequeueUpTo pad these dimensions at the end, with zeros or empty strings, to the largest
  // size in the batch. `options.shapes` is required.
  static Queue PaddingFifo(Graph& graph, int64_t capacity, std::vector<DataType> types,
                           const QueueOptions& options, At at = At::current());

  // Random order. `min_after_dequeue` elements stay in the queue while it is open, so that the
  // order stays random: a dequeue waits until there are more. `min_after_dequeue` must be less than
  // the capacity.
  static Queue RandomShuffle(Graph& graph, int64_t capacity, int64_t min_after_dequeue,
                             std::vector<DataType> types, const QueueOptions& options = {},
                             At at = At::current());

  // Smallest priority first. The priority is an additional first component, an int64 scalar, which
  // Enqueue takes and Dequeue returns.
  static Queue Priority(Graph& graph, int64_t capacity, std::vector<DataType> types,
                        const QueueOptions& options = {}, At at = At::current());

  Output handle() const { return handle_; }
  const std::string& name() const { return Operation(handle_).name(); }

  // Enqueues one element, with a tensor per component. Waits while the queue is full. CANCELLED if
  // the queue is closed.
  Operation Enqueue(const OutputList& components, std::string_view name = "",
                    At at = At::current()) const;

  // Enqueues a batch, whose dimension 0 counts the elements. A batch may be larger than the
  // capacity: its elements enter one by one, as soon as capacity is free.
  Operation EnqueueMany(const OutputList& components, std::string_view name = "",
                        At at = At::current()) const;
  // Dequeues one element: one tensor per component. Waits while the queue is empty and open.
  OutputList Dequeue(std::string_view name = "", At at = At::current()) const;

  // Dequeues n elements (int32 scalar), stacked along a new first dimension. Waits until n elements
  // have arrived. OUT_OF_RANGE if the queue is closed and has fewer elements, which then stay for
  // other dequeues. The component shapes must be known.
  OutputList DequeueMany(Output n, std::string_view name = "", At at = At::current()) const;

  // Like DequeueMany, but if a closed queue has fewer than n elements left, returns these.
  // OUT_OF_RANGE if none is left.
  OutputList DequeueUpTo(Output n, std::string_view name = "", At at = At::current()) const;

  // Refuses further elements. Dequeues still return the remaining elements, and then fail with
  // OUT_OF_RANGE. Enqueues that wait complete first, or fail with CANCELLED if
  // `cancel_pending_enqueues`.
  Operation Close(bool cancel_pending_enqueues = false, std::string_view name = "",
                  At at = At::current()) const;
  // Whether the queue is closed, a bool scalar. True even if elements remain.
  Output IsClosed(std::string_view name = "", At at = At::current()) const;
  // The number of elements, an int32 scalar.
  Output Size(std::string_view name = "", At at = At::current()) const;

  // Returns the number of elements that `node` puts into this queue in a step, or 0 if the graph
  // does not determine the number. Returns nothing if `node` does not enqueue to this queue.
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
