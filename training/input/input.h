// Input pipelines of queues and threads: TensorFlow 1's producers and batchers, with its nodes,
// names, queue runners and summaries.
//
//   Queue files = input::StringInputProducer(g, {"a.tfrecord", "b.tfrecord"}, {.num_epochs = 3});
//   Output reader = TFRecordReaderV2(g);
//   ReaderReadV2Result record = ReaderReadV2(reader, files.handle());
//   OutputList batch = input::ShuffleBatch({image, label}, 32, 10'000, 1'000);
//
// What they make runs when its queue runners do: StartQueueRunners (training/loop), or a
// MonitoredSession. `num_epochs` counts in a local variable: InitializeLocalVariables.
//
// Errors stay in the graph (Graph::status), with the caller's line; results are then invalid.
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
  std::optional<int64_t> num_epochs;  // rounds before the queue is closed; unset: without end
  bool shuffle = true;                // the order of each round
  std::optional<int64_t> seed;
  int64_t capacity = 32;
  std::string shared_name = "";
  std::string name = "";
  Operation cancel_op = {};  // of the queue runner, in place of closing the queue
};

// `tensor`, at most `num_epochs` times; then OUT_OF_RANGE. Unset: `tensor` itself.
Output LimitEpochs(Output tensor, std::optional<int64_t> num_epochs, std::string_view name = "",
                   At at = At::current());

// A queue of the rows of `tensor`. `summary_name`: a scalar summary of how full it is.
Queue InputProducer(Output tensor, const PartialShape& element_shape,
                    const ProducerOptions& options = {}, std::string_view summary_name = "",
                    At at = At::current());
// A queue of strings. FAILED at run time when there is none ("string_input_producer requires a
// non-null input tensor").
Queue StringInputProducer(Output strings, const ProducerOptions& options = {},
                          At at = At::current());
Queue StringInputProducer(Graph& graph, const std::vector<std::string>& strings,
                          const ProducerOptions& options = {}, At at = At::current());
// A queue of the numbers from 0 to limit - 1.
Queue RangeInputProducer(Output limit, const ProducerOptions& options = {}, At at = At::current());
Queue RangeInputProducer(Graph& graph, int32_t limit, const ProducerOptions& options = {},
                         At at = At::current());
// One row of each tensor at a time, the same row of all.
OutputList SliceInputProducer(const OutputList& tensors, const ProducerOptions& options = {},
                              At at = At::current());

struct BatchOptions {
  int num_threads = 1;
  int64_t capacity = 32;
  bool enqueue_many = false;         // the tensors are batches already; rows are elements
  std::vector<PartialShape> shapes;  // of elements; empty: as the tensors say
  bool dynamic_pad = false;          // sizes that are open (-1) may differ; batches are padded
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";
};

// `batch_size` elements, stacked.
OutputList Batch(const OutputList& tensors, int batch_size, const BatchOptions& options = {},
                 At at = At::current());
// The same of those elements for which `keep` (a bool; with enqueue_many also one a row) is true.
OutputList MaybeBatch(const OutputList& tensors, Output keep, int batch_size,
                      const BatchOptions& options = {}, At at = At::current());
// A thread for each list of tensors, all into one queue.
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

// Elements at random out of at least `min_after_dequeue`.
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
