// Writes logs to files, and adds the nodes that read them to a graph. The files are TFRecord files
// of tf.train.Example with one feature per column, or CSV files with one field per value.
//
//   SLUICE_RETURN_IF_ERROR(WriteLog(log, 0, 100'000, "train.tfrecord"));
//   Graph g;
//   OutputList columns = ReadLog(g, log, {.files = {"train.tfrecord"}, .batch = 512});
//
// Thread safety: several threads may call WriteLog for different files. ReadLog is as safe as the
// graph.
// Errors: INVALID_ARGUMENT if a name ends neither in ".tfrecord" nor in ".csv". UNAVAILABLE if a
// file cannot be written. If a file cannot be read, the step fails.
#ifndef SLUICE_DEMOS_RECOMMENDERS_LOG_FILES_H_
#define SLUICE_DEMOS_RECOMMENDERS_LOG_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "demos/recommenders/log.h"
#include "graph/ir/graph.h"

namespace sluice::recommenders {

// Writes `count` rows from row `first` on. The name's ending selects the format.
absl::Status WriteLog(const Log& log, int64_t first, int64_t count, const std::string& path);

struct ReadOptions {
  std::vector<std::string> files;  // of one format
  int64_t batch = 512;
  bool repeat = true;           // true: reads endlessly, in new orders; false: once, in order
  int64_t shuffle_rows = 4096;  // size of the shuffle buffer, in rows, if `repeat`
  // Reads the rows whose number modulo `shards` is `shard`: one shard per worker.
  int64_t shards = 1;
  int64_t shard = 0;
};

// Adds the nodes that read a batch per step: a [batch, width] tensor per column. A thread reads and
// parses the next batches while the step runs. The last rows are dropped if they do not fill a
// batch. The op that opens the files is in the collection "table_initializer", which training
// sessions run.
OutputList ReadLog(Graph& graph, const Log& log, const ReadOptions& options);

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_LOG_FILES_H_
