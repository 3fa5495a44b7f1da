// Writes event files, which TensorBoard shows, while training goes on.
//
//   SLUICE_ASSIGN_OR_RETURN(auto writer, SummaryFileWriter::Open("/tmp/run1", &g));
//   writer->AddSummary(out[0], step);           // the value of summary::MergeAll(g)
//
// Events are queued and written by a thread of the writer's own; Add… waits only when `max_queue`
// events wait already. Reference behaviour: tf.compat.v1.summary.FileWriter.
//
// Thread safety: all methods from any thread. Errors: bad arguments at once; what the file system
// says comes from the call after it happened, and from every later one. After Close events are
// dropped without an error, until Reopen. The destructor closes.
#ifndef SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_
#define SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "executor/trace/step_stats.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "ops/summary/event_file.h"

namespace sluice {

struct SummaryFileWriterOptions {
  // Events that may wait before Add… waits for the file; 0: no bound.
  int max_queue = 10;
  // Readers see an event after this time at the latest.
  double flush_secs = 120;
  std::string filename_suffix = "";
};

class SummaryFileWriter {
 public:
  // Makes `logdir` and a file in it; with `graph`, writes it too, as GraphDef and MetaGraphDef.
  static absl::StatusOr<std::unique_ptr<SummaryFileWriter>> Open(
      std::string logdir, const Graph* graph = nullptr, SummaryFileWriterOptions options = {});
  // The writer of that folder that all users of the process share.
  static absl::StatusOr<std::shared_ptr<SummaryFileWriter>> Shared(const std::string& logdir);
  // Closes the shared writers and forgets them.
  static void ClearShared();

  ~SummaryFileWriter();
  SummaryFileWriter(const SummaryFileWriter&) = delete;
  SummaryFileWriter& operator=(const SummaryFileWriter&) = delete;

  // A Summary: as the message, serialised, or as the value of a summary op. Metadata of a tag is
  // written the first time only.
  absl::Status AddSummary(pb::Summary summary, int64_t step = 0);
  absl::Status AddSummary(std::string_view serialized, int64_t step = 0);
  absl::Status AddSummary(const Tensor& summary, int64_t step = 0);
  // One number, without an op: `AddScalar("accuracy", 0.93, step)`.
  absl::Status AddScalar(std::string_view tag, float value, int64_t step = 0);
  // The GraphDef, with the outputs' shapes as TensorBoard shows them.
  absl::Status AddGraph(const Graph& graph, int64_t step = 0);
  absl::Status AddGraph(const pb::GraphDef& graph, int64_t step = 0);
  absl::Status AddMetaGraph(const pb::MetaGraphDef& meta_graph, int64_t step = 0);
  // INVALID_ARGUMENT when the tag was used before.
  absl::Status AddRunMetadata(const pb::RunMetadata& metadata, std::string_view tag,
                              int64_t step = 0);
  absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag, int64_t step = 0);
  absl::Status AddSessionLog(const pb::SessionLog& log, int64_t step = 0);
  // As it is, with its own time.
  absl::Status AddEvent(pb::Event event);

  // Waits until everything added so far is in the file.
  absl::Status Flush();
  absl::Status Close();
  // After Close: goes on in a new file of the same folder.
  absl::Status Reopen();

  const std::string& logdir() const { return logdir_; }
  // Of the file being written, or of the last one.
  std::string path() const;

 private:
  SummaryFileWriter(std::string logdir, SummaryFileWriterOptions options);
  absl::Status Start();
  absl::Status Add(pb::Event event, int64_t step);
  void Work();

  const std::string logdir_;
  const SummaryFileWriterOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<pb::Event>> waiting_;  // guarded by mutex_
  int64_t added_ = 0;         // guarded by mutex_; events ever put in `waiting_`
  int64_t written_ = 0;       // guarded by mutex_; of these, handed to the file
  int64_t flush_wanted_ = 0;  // guarded by mutex_; events that somebody wants flushed
  int64_t flushed_ = 0;       // guarded by mutex_
  bool is_open_ = false;      // guarded by mutex_
  absl::Status status_;       // guarded by mutex_; the first error of the file
  std::set<std::string, std::less<>> tags_seen_;  // guarded by mutex_; of summaries
  std::set<std::string, std::less<>> run_tags_;   // guarded by mutex_
  std::shared_ptr<EventFile> file_;               // guarded by mutex_; set while the thread rests
  std::chrono::steady_clock::time_point next_flush_;  // of the thread
  std::thread thread_;                                // started and joined by Start and Close
};

// What a traced step did, as the message that profilers read.
pb::RunMetadata RunMetadataToProto(const RunMetadata& metadata);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_
