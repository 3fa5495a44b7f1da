// Builds input pipelines of queues and threads, like TensorFlow 1's producers and batching
// functions: with the same nodes, names, queue runners and summaries.
//
//   Queue files = input::StringInputProducer(g, {"a.tfrecord", "b.tfrecord"}, {.num_epochs = 3});
//   Output reader = TFRecordReaderV2(g);
//   ReaderReadV2Result record = ReaderReadV2(reader, files.handle());
//   OutputList batch = input::ShuffleBatch({image, label}, 32, 10'000, 1'000);
//
// The pipelines run once their queue runners are started, by StartQueueRunners (training/loop) or a
// MonitoredSession. A step that reads a batch before that waits without end. `num_epochs` is
// counted in a local variable: run InitializeLocalVariables.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the nodes and keeps the queue runners in its collection
// "queue_runners". The device owns the queues' elements.
// Errors of the graph are in Graph::status() with the caller's line; the results are then invalid.
// A step ends with OUT_OF_RANGE at the end of the input, once the queues are empty.
// Reference: tf.compat.v1.train.batch, shuffle_batch and relatives.
#ifndef SLUICE_TRAINING_INPUT_INPUT_H_
#define SLUICE_TRAINING_INPUT_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/dataflow/queue_handle.h"

namespace sluice::input {

struct ProducerOptions {
  // Number of passes over the input before the queue is closed. Nullopt: no limit.
  std::optional<int64_t> num_epochs;
  // Whether each pass has a new order.
  bool shuffle = true;
  // Seed of the shuffle. Without it, the graph's seed applies.
  std::optional<int64_t> seed;
  // Capacity of the queue, in elements.
  int64_t capacity = 32;
  // The name under which graphs and sessions on the same devices share the queue. "": the node's
  // name.
  std::string shared_name = "";
  std::string name = "";
  // The op that the queue runner runs when it is stopped. Invalid: an op that closes the queue.
  Operation cancel_op = {};
};

// Returns a tensor with the value of `tensor`. After `num_epochs` steps have read it, further steps
// that read it end with OUT_OF_RANGE. Nullopt: returns `tensor` itself. INVALID_ARGUMENT if
// `num_epochs` is not positive.
Output LimitEpochs(Output tensor, std::optional<int64_t> num_epochs, std::string_view name = "",
                   At at = At::current());

// Adds a queue of the rows of `tensor`, with a queue runner that fills it. If `summary_name` is not
// empty, also adds a scalar summary of this name, which shows what fraction of the queue's capacity
// is in use. INVALID_ARGUMENT if neither `tensor` nor `element_shape` determines the shape of a
// row.
Queue InputProducer(Output tensor, const PartialShape& element_shape,
                    const ProducerOptions& options = {}, std::string_view summary_name = "",
                    At at = At::current());
// Adds a queue of strings. An empty list of strings is the INVALID_ARGUMENT "string_input_producer
// requires a non-null input tensor". If the strings are a tensor, the steps that fill the queue
// return this error. If they are a vector, it is an error of the graph.
Queue StringInputProducer(Output strings, const ProducerOptions& options = {},
                          At at = At::current());
Queue StringInputProducer(Graph& graph, const std::vector<std::string>& strings,
                          const ProducerOptions& options = {}, At at = At::current());
// Adds a queue of the numbers from 0 to limit - 1.
Queue RangeInputProducer(Output limit, const ProducerOptions& options = {}, At at = At::current());
Queue RangeInputProducer(Graph& graph, int32_t limit, const ProducerOptions& options = {},
                         At at = At::current());

// Returns one row of each tensor per step, for data sets that fit into memory. The rows of a step
// have the same index. The tensors must have equal sizes of dimension 0.
OutputList SliceInputProducer(const OutputList& tensors, const ProducerOptions& options = {},
                              At at = At::current());

// Options of the batching functions without a shuffle.
struct BatchOptions {
  // Threads that enqueue. With more than one the order of elements is not determined.
  int num_threads = 1;
  // Elements that the queue holds at most.
  int64_t capacity = 32;
  // Whether each tensor has several elements, as rows along dimension 0, instead of one element.
  bool enqueue_many = false;
  // The shapes of elements. Empty: those of the tensors.
  std::vector<PartialShape> shapes;
  // Whether dimensions that are unknown (-1) are padded with zeros to the largest size in the
  // batch.
  bool dynamic_pad = false;

  // Whether the last batch may be smaller than the others. If false, the last elements are dropped
  // if they do not fill a batch, and the static shape of the result has the batch size.
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";
};

// Stacks `batch_size` elements: each result has the shape of its tensor with the batch in front
// (with enqueue_many, the batch replaces dimension 0). Shapes must be fully defined, or with
// dynamic_pad have a known rank; otherwise INVALID_ARGUMENT.
OutputList Batch(const OutputList& tensors, int batch_size, const BatchOptions& options = {},
                 At at = At::current());
// Like Batch, but skips elements for which `keep` is false. `keep` is a bool or, with enqueue_many,
// a vector with one bool per row.
OutputList MaybeBatch(const OutputList& tensors, Output keep, int batch_size,
                      const BatchOptions& options = {}, At at = At::current());
// Like Batch and MaybeBatch, but the elements come from several lists of tensors. One thread per
// list adds the list's elements to the queue.
OutputList BatchJoin(const std::vector<OutputList>& tensors, int batch_size,
                     const BatchOptions& options = {}, At at = At::current());
OutputList MaybeBatchJoin(const std::vector<OutputList>& tensors, Output keep, int batch_size,
                          const BatchOptions& options = {}, At at = At::current());

// Options of the batching functions with a shuffle; see BatchOptions.
struct ShuffleOptions {
  int num_threads = 1;
  std::optional<int64_t> seed;
  bool enqueue_many = false;
  std::vector<PartialShape> shapes;
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";
};

// Like Batch and its variants above, but batches consist of random elements of a queue. The queue
// has the given capacity, and keeps at least `min_after_dequeue` elements after a batch is taken,
// so that elements are mixed. A larger number mixes better, but takes longer to fill at the start.
// INVALID_ARGUMENT unless `capacity` is larger than `min_after_dequeue`.
OutputList ShuffleBatch(const OutputList& tensors, int batch_size, int64_t capacity,
                        int64_t min_after_dequeue, const ShuffleOptions& options = {},
                        At at = At::current());
OutputList MaybeShuffleBatch(const OutputList& tensors, Output keep, int batch_size,
                             int64_t capacity, int64_t min_after_dequeue,
                             const ShuffleOptions& options = {}, At at = At::current());
OutputList ShuffleBatchJoin(const std::vector<OutputList>& tensors, int batch_size,
                            int64_t capacity, int64_t min_after_dequeue,
                            const ShuffleOptions& options = {}, At at = At::current());
OutputList MaybeShuffleBatchJoin(const std::vector<OutputList>& tensors, Output keep,
                                 int batch_size, int64_t capacity, int64_t min_after_dequeue,
                                 const ShuffleOptions& options = {}, At at = At::current());

}  // namespace sluice::input

#endif  // SLUICE_TRAINING_INPUT_INPUT_H_
