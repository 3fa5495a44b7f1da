// Input pipelines of queues and threads: TensorFlow 1's producers and batching functions, with the
// same nodes, names, queue runners and summaries.
//
//   Queue files = input::StringInputProducer(g, {"a.tfrecord", "b.tfrecord"}, {.num_epochs = 3});
//   Output reader = TFRecordReaderV2(g);
//   ReaderReadV2Result record = ReaderReadV2(reader, files.handle());
//   OutputList batch = input::ShuffleBatch({image, label}, 32, 10'000, 1'000);
//
// The pipelines run once their queue runners are started, by StartQueueRunners (training/loop) or a
// MonitoredSession. `num_epochs` is counted in a local variable: run InitializeLocalVariables.
//
// Errors stay in the graph (Graph::status) with the caller's line. The results are then invalid.
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
  std::optional<int64_t> num_epochs;  // rounds before the queue is closed; nullopt: no limit
  bool shuffle = true;                // a new order in each round
  std::optional<int64_t> seed;
  int64_t capacity = 32;
  std::string shared_name = "";
  std::string name = "";
  Operation cancel_op = {};  // run by the queue runner instead of closing the queue
};

// Returns `tensor` at most `num_epochs` times, then OUT_OF_RANGE. Nullopt: `tensor` itself.
Output LimitEpochs(Output tensor, std::optional<int64_t> num_epochs, std::string_view name = "",
                   At at = At::current());

// A queue of the rows of `tensor`. `summary_name`: name of a scalar summary of the fill level.
Queue InputProducer(Output tensor, const PartialShape& element_shape,
                    const ProducerOptions& options = {}, std::string_view summary_name = "",
                    At at = At::current());
// A queue of strings. A step ends with "string_input_producer requires a non-null input tensor" if
// there is none.
Queue StringInputProducer(Output strings, const ProducerOptions& options = {},
                          At at = At::current());
Queue StringInputProducer(Graph& graph, const std::vector<std::string>& strings,
                          const ProducerOptions& options = {}, At at = At::current());
// A queue of the numbers from 0 to limit - 1.
Queue RangeInputProducer(Output limit, const ProducerOptions& options = {}, At at = At::current());
Queue RangeInputProducer(Graph& graph, int32_t limit, const ProducerOptions& options = {},
                         At at = At::current());
// One row of each tensor per step. All rows have the same index.
OutputList SliceInputProducer(const OutputList& tensors, const ProducerOptions& options = {},
                              At at = At::current());

struct BatchOptions {
  int num_threads = 1;
  int64_t capacity = 32;
  bool enqueue_many = false;         // the tensors are batches; each row is an element
  std::vector<PartialShape> shapes;  // of elements; empty: the shapes of the tensors
  bool dynamic_pad = false;  // pads dimensions that are unknown (-1) to the largest in the batch
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";
};

// Stacks `batch_size` elements.
OutputList Batch(const OutputList& tensors, int batch_size, const BatchOptions& options = {},
                 At at = At::current());
// The same, but only with elements for which `keep` is true. `keep` is a bool, or a vector with one
// bool per row with enqueue_many.
OutputList MaybeBatch(const OutputList& tensors, Output keep, int batch_size,
                      const BatchOptions& options = {}, At at = At::current());
// Runs one thread per list of tensors. All enqueue into one queue.
OutputList BatchJoin(const std::vector<OutputList>& tensors, int batch_size,
                     const BatchOptions& options = {}, At at = At::current());
OutputList MaybeBatchJoin(const std::vector<OutputList>& tensors, Output keep, int batch_size,
                          const BatchOptions& options = {}, At at = At::current());

struct ShuffleOptions {
  int num_threads = 1;
  std::optional<int64_t> seed;
  bool enqueue_many = false;
  std::vector<PartialShape> shapes;
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";
};

// Draws random elements from a queue that keeps at least `min_after_dequeue` elements.
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
