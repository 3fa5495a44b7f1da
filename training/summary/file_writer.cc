#include "training/summary/file_writer.h"

#include <map>

#include "executor/trace/step_stats_proto.h"
#include "graph/format/graph_def.h"
#include "graph/format/meta_graph.h"
#include "graph/format/proto/config.pb.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/graph.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the shapes that TensorBoard shows on the graph's edges.
void AddOutputShapes(const Graph& graph, pb::GraphDef* def) {
  for (pb::NodeDef& proto : *def->mutable_node()) {
    const Node* node = graph.Find(proto.name());
    if (node == nullptr || node->num_outputs() == 0) continue;
    pb::AttrValue& shapes = (*proto.mutable_attr())["_output_shapes"];
    for (int i = 0; i < node->num_outputs(); ++i) {
      ShapeToProto(node->output_shape(i), shapes.mutable_list()->add_shape());
    }
  }
}

struct SharedWriters {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<SummaryFileWriter>> by_logdir ABSL_GUARDED_BY(mutex);
};
SharedWriters& Writers() {
  static auto* writers = new SharedWriters();
  return *writers;
}

}  // namespace

SummaryFileWriter::SummaryFileWriter(std::string logdir, SummaryFileWriterOptions options)
    : logdir_(std::move(logdir)), options_(std::move(options)) {}

SummaryFileWriter::~SummaryFileWriter() { Close().IgnoreError(); }

absl::StatusOr<std::unique_ptr<SummaryFileWriter>> SummaryFileWriter::Open(
    std::string logdir, const Graph* graph, SummaryFileWriterOptions options) {
  std::unique_ptr<SummaryFileWriter> writer(
      new SummaryFileWriter(std::move(logdir), std::move(options)));
  SLUICE_RETURN_IF_ERROR(writer->Start());
  if (graph != nullptr) {
    SLUICE_RETURN_IF_ERROR(writer->AddGraph(*graph));
    SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta_graph, ExportMetaGraphDef(*graph));
    SLUICE_RETURN_IF_ERROR(writer->AddMetaGraph(meta_graph));
  }
  return writer;
}

absl::StatusOr<std::shared_ptr<SummaryFileWriter>> SummaryFileWriter::Shared(
    const std::string& logdir) {
  SharedWriters& writers = Writers();
  ScopedLock lock(&writers.mutex);
  std::shared_ptr<SummaryFileWriter>& writer = writers.by_logdir[logdir];
  if (writer == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(writer, Open(logdir));
  }
  return writer;
}

void SummaryFileWriter::ClearShared() {
  SharedWriters& writers = Writers();
  ScopedLock lock(&writers.mutex);
  for (auto& [logdir, writer] : writers.by_logdir) {
    if (writer != nullptr) writer->Close().IgnoreError();
  }
  writers.by_logdir.clear();
}

absl::Status SummaryFileWriter::Start() {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<EventFile> file,
                          EventFile::Open(logdir_, options_.filename_suffix));
  ScopedLock lock(&mutex_);
  // The thread starts its work only after all members are set, because it waits for the lock.
  SLUICE_ASSIGN_OR_RETURN(thread_,
                          Thread::Start("summaries", ThreadUse::kProcess, [this] { Work(); }));
  file_ = std::move(file);
  is_open_ = true;
  status_ = absl::OkStatus();
  next_flush_ = Clock::now();  // shows the first event in TensorBoard at once
  return absl::OkStatus();
}

// Writes the events in the queue. Flushes on request and every flush_secs.
void SummaryFileWriter::Work() {
  const auto period = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options_.flush_secs));
  ScopedLock lock(&mutex_);
  const std::shared_ptr<EventFile> file = file_;
  while (true) {
    while (!HasWork()) {
      if (written_ == flushed_) {
        changed_.Wait(&mutex_);
      } else if (!changed_.WaitUntil(&mutex_, next_flush_)) {
        break;
      }
    }
    std::vector<std::unique_ptr<pb::Event>> events;
    events.swap(waiting_);
    const bool flush = flush_requested_ > flushed_ || !is_open_ || Clock::now() >= next_flush_;
    const bool is_last = !is_open_;
    changed_.NotifyAll();
    lock.Unlock();
    absl::Status status;
    for (const auto& event : events) status.Update(file->Write(*event));
    if (flush) status.Update(file->Flush());
    lock.Lock();
    written_ += static_cast<int64_t>(events.size());
    if (flush) {
      flushed_ = written_;
      next_flush_ = Clock::now() + period;
    }
    status_.Update(status);
    changed_.NotifyAll();
    if (is_last && waiting_.empty()) return;
  }
}

absl::Status SummaryFileWriter::AddEvent(pb::Event event) {
  ScopedLock lock(&mutex_);
  while (is_open_ && status_.ok() && options_.max_queue > 0 &&
         static_cast<int>(waiting_.size()) >= options_.max_queue) {
    changed_.Wait(&mutex_);
  }
  if (!status_.ok() || !is_open_) return status_;
  waiting_.push_back(std::make_unique<pb::Event>(std::move(event)));
  ++added_;
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status SummaryFileWriter::Add(pb::Event event, int64_t step) {
  event.set_wall_time(WallTime());
  event.set_step(step);
  return AddEvent(std::move(event));
}

absl::Status SummaryFileWriter::Flush() {
  ScopedLock lock(&mutex_);
  const int64_t requested = added_;
  flush_requested_ = std::max(flush_requested_, requested);
  changed_.NotifyAll();
  // The thread writes and flushes all events before it ends, also if another thread calls Close.
  while (flushed_ < requested) changed_.Wait(&mutex_);
  return status_;
}

absl::Status SummaryFileWriter::Close() {
  {
    ScopedLock lock(&mutex_);
    if (!is_open_) return status_;
    is_open_ = false;
    changed_.NotifyAll();
  }
  thread_.Join();
  ScopedLock lock(&mutex_);
  status_.Update(file_->Close());
  return status_;
}

absl::Status SummaryFileWriter::Reopen() {
  {
    ScopedLock lock(&mutex_);
    if (is_open_) return status_;
  }
  return Start();
}

std::string SummaryFileWriter::path() const {
  ScopedLock lock(&mutex_);
  return file_->path();
}

// --- events

absl::Status SummaryFileWriter::AddSummary(pb::Summary summary, int64_t step) {
  {
    ScopedLock lock(&mutex_);
    for (pb::Summary::Value& value : *summary.mutable_value()) {
      if (!tags_seen_.insert(value.tag()).second) value.clear_metadata();
    }
  }
  pb::Event event;
  *event.mutable_summary() = std::move(summary);
  return Add(std::move(event), step);
}

absl::Status SummaryFileWriter::AddSummary(std::string_view serialized, int64_t step) {
  pb::Summary summary;
  SLUICE_INVALID_IF(!summary.ParseFromArray(serialized.data(), static_cast<int>(serialized.size())),
                    "SummaryFileWriter '", logdir_, "': expected a serialised Summary, got ",
                    serialized.size(), " bytes of something else");
  return AddSummary(std::move(summary), step);
}

absl::Status SummaryFileWriter::AddSummary(const Tensor& summary, int64_t step) {
  SLUICE_INVALID_IF(summary.dtype() != DT_STRING || summary.num_elements() != 1,
                    "SummaryFileWriter '", logdir_, "': expected the value of a summary op, got ",
                    summary.ToString());
  return AddSummary(std::string_view(summary.data<std::string>()[0]), step);
}

absl::Status SummaryFileWriter::AddScalar(std::string_view tag, float value, int64_t step) {
  pb::Summary summary;
  pb::Summary::Value* entry = summary.add_value();
  entry->set_tag(std::string(tag));
  entry->set_simple_value(value);
  return AddSummary(std::move(summary), step);
}

absl::Status SummaryFileWriter::AddGraph(const Graph& graph, int64_t step) {
  SLUICE_ASSIGN_OR_RETURN(pb::GraphDef def, ExportGraphDef(graph));
  AddOutputShapes(graph, &def);
  return AddGraph(def, step);
}

absl::Status SummaryFileWriter::AddGraph(const pb::GraphDef& graph, int64_t step) {
  pb::Event event;
  SLUICE_INVALID_IF(!graph.SerializeToString(event.mutable_graph_def()), "SummaryFileWriter '",
                    logdir_, "': expected a graph of less than 2 GiB");
  return Add(std::move(event), step);
}

absl::Status SummaryFileWriter::AddMetaGraph(const pb::MetaGraphDef& meta_graph, int64_t step) {
  pb::Event event;
  SLUICE_INVALID_IF(!meta_graph.SerializeToString(event.mutable_meta_graph_def()),
                    "SummaryFileWriter '", logdir_, "': expected a graph of less than 2 GiB");
  return Add(std::move(event), step);
}

absl::Status SummaryFileWriter::AddRunMetadata(const pb::RunMetadata& metadata,
                                               std::string_view tag, int64_t step) {
  {
    ScopedLock lock(&mutex_);
    SLUICE_INVALID_IF(!run_tags_.emplace(tag).second,
                      "The provided tag was already used for this event type: '", tag, "'");
  }
  pb::Event event;
  event.mutable_tagged_run_metadata()->set_tag(std::string(tag));
  metadata.SerializeToString(event.mutable_tagged_run_metadata()->mutable_run_metadata());
  return Add(std::move(event), step);
}

absl::Status SummaryFileWriter::AddRunMetadata(const RunMetadata& metadata, std::string_view tag,
                                               int64_t step) {
  pb::RunMetadata proto;
  if (metadata.step_stats != nullptr) {
    StepStatsToProto(*metadata.step_stats, proto.mutable_step_stats());
  }
  return AddRunMetadata(proto, tag, step);
}

absl::Status SummaryFileWriter::AddSessionLog(const pb::SessionLog& log, int64_t step) {
  pb::Event event;
  *event.mutable_session_log() = log;
  return Add(std::move(event), step);
}

absl::StatusOr<std::shared_ptr<TrainingEvents>> OpenEventFile(const std::string& folder) {
  return SummaryFileWriter::Shared(folder);
}

}  // namespace sluice
