// Writes event files for TensorBoard, in a thread of its own.
//
//   SLUICE_ASSIGN_OR_RETURN(auto writer, SummaryFileWriter::Open("/tmp/run1", &g));
//   writer->AddSummary(out[0], step);           // the value of summary::MergeAll(g)
//   writer->AddScalar("accuracy", 0.93, step);  // a number of the program's own
//   SLUICE_RETURN_IF_ERROR(writer->Close());    // the first error of the file, if any
//
// Add… puts an event into a queue. It blocks only while `max_queue` events are in the queue.
//
// Thread safety: all methods may be called from any thread, except that Close and Reopen are called
// by one thread at a time.
// Lifetime: the destructor calls Close. Events are copied.
// Errors: a bad argument is an error of the call; an error of the file system is returned by the
// next call and by every later one. Between Close and Reopen events are dropped without an error.
// Reference: tf.compat.v1.summary.FileWriter.
#ifndef SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_
#define SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "executor/trace/step_stats.h"
#include "executor/wait/thread.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/summary/event_file.h"
#include "training/summary/training_events.h"

namespace sluice {

struct SummaryFileWriterOptions {
  // The largest number of events in the queue. 0: no limit.
  int max_queue = 10;
  // The file is flushed at least this often. The first event is flushed at once.
  double flush_secs = 120;
  // Appended to "events.out.tfevents.<seconds>.<host>".
  std::string filename_suffix = "";
};

// Writes one event file. A folder may have several files, from successive writers or from several
// tasks. TensorBoard shows them together.
class SummaryFileWriter : public TrainingEvents {
 public:
  // Creates `logdir` and a file in it. Writes `graph`, if not null, as GraphDef and MetaGraphDef.
  // The graph is used during the call only.
  static absl::StatusOr<std::unique_ptr<SummaryFileWriter>> Open(
      std::string logdir, const Graph* graph = nullptr, SummaryFileWriterOptions options = {});
  // Returns the writer of the folder that all callers in the process share. Opens it at the first
  // call. It stays open until ClearShared.
  static absl::StatusOr<std::shared_ptr<SummaryFileWriter>> Shared(const std::string& logdir);
  // Closes the shared writers and forgets them. Call it when no other thread adds events.
  static void ClearShared();

  ~SummaryFileWriter() override;
  SummaryFileWriter(const SummaryFileWriter&) = delete;
  SummaryFileWriter& operator=(const SummaryFileWriter&) = delete;

  // Adds a Summary: the message, its serialization, or the value of a summary op. `step` is the
  // horizontal axis in TensorBoard. The metadata of a tag is written only once. INVALID_ARGUMENT if
  // the argument is no Summary.
  absl::Status AddSummary(pb::Summary summary, int64_t step = 0);
  absl::Status AddSummary(std::string_view serialized, int64_t step = 0);
  absl::Status AddSummary(const Tensor& summary, int64_t step = 0) override;
  // Adds one number: `AddScalar("accuracy", 0.93, step)`.
  absl::Status AddScalar(std::string_view tag, float value, int64_t step = 0) override;

  // Adds the graph. The overload for Graph also adds the shapes of outputs, which TensorBoard
  // shows. INVALID_ARGUMENT for graphs of 2 GiB and more.
  absl::Status AddGraph(const Graph& graph, int64_t step);
  absl::Status AddGraph(const Graph& graph) override { return AddGraph(graph, 0); }
  absl::Status AddGraph(const pb::GraphDef& graph, int64_t step = 0);
  // Adds the graph with its collections.
  absl::Status AddMetaGraph(const pb::MetaGraphDef& meta_graph, int64_t step);
  absl::Status AddMetaGraph(const pb::MetaGraphDef& meta_graph) override {
    return AddMetaGraph(meta_graph, 0);
  }

  // Adds the statistics of a traced step (RunOptions::trace). INVALID_ARGUMENT if the tag was used
  // before.
  absl::Status AddRunMetadata(const pb::RunMetadata& metadata, std::string_view tag,
                              int64_t step = 0);
  absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag, int64_t step);
  absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag) override {
    return AddRunMetadata(metadata, tag, 0);
  }

  // Adds a session log, for example the start of a session. After a start at `step`, TensorBoard
  // drops the events that an earlier run wrote for later steps.
  absl::Status AddSessionLog(const pb::SessionLog& log, int64_t step = 0) override;
  // Adds an event with a time and step of its own.
  absl::Status AddEvent(pb::Event event);

  // Blocks until all events added so far are in the file.
  absl::Status Flush() override;
  // Writes all events, closes the file and ends the writer's thread. A second call does nothing.
  absl::Status Close();
  // Continues after Close, in a new file of the same folder.
  absl::Status Reopen();

  const std::string& logdir() const { return logdir_; }
  // The path of the current or last file.
  std::string path() const;

 private:
  SummaryFileWriter(std::string logdir, SummaryFileWriterOptions options);
  absl::Status Start();
  absl::Status Add(pb::Event event, int64_t step);
  void Work();

  const std::string logdir_;
  const SummaryFileWriterOptions options_;
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !waiting_.empty() || flush_requested_ > flushed_ || !is_open_;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<pb::Event>> waiting_ ABSL_GUARDED_BY(mutex_);
  // Numbers of events: added to `waiting_`, written, to be flushed, and flushed.
  int64_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t flush_requested_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t flushed_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the first error of the file
  std::set<std::string, std::less<>> tags_seen_ ABSL_GUARDED_BY(mutex_);  // of summaries
  std::set<std::string, std::less<>> run_tags_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<EventFile> file_
      ABSL_GUARDED_BY(mutex_);                        // replaced only between Close and Start
  std::chrono::steady_clock::time_point next_flush_;  // while thread_ runs, only it uses this
  Thread thread_;                                     // started and joined by Start and Close
};

// Returns SummaryFileWriter::Shared(folder). It is the default value of options of type OpenEvents.
absl::StatusOr<std::shared_ptr<TrainingEvents>> OpenEventFile(const std::string& folder);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SUMMARY_FILE_WRITER_H_
