#include "training/session/event_files.h"

#include <utility>

#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/status.h"
#include "training/summary/file_writer.h"

namespace sluice {
namespace {

class EventFiles : public TrainingEvents {
 public:
  explicit EventFiles(std::shared_ptr<SummaryFileWriter> writer) : writer_(std::move(writer)) {}

  absl::Status AddScalar(std::string_view tag, float value, int64_t step) override {
    return writer_->AddScalar(tag, value, step);
  }
  absl::Status AddSummary(const Tensor& summary, int64_t step) override {
    return writer_->AddSummary(summary, step);
  }
  absl::Status AddSessionLog(const pb::SessionLog& log, int64_t step) override {
    return writer_->AddSessionLog(log, step);
  }
  absl::Status AddGraph(const Graph& graph) override { return writer_->AddGraph(graph); }
  absl::Status AddMetaGraph(const pb::MetaGraphDef& meta_graph) override {
    return writer_->AddMetaGraph(meta_graph);
  }
  absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag) override {
    return writer_->AddRunMetadata(metadata, tag);
  }
  absl::Status Flush() override { return writer_->Flush(); }

 private:
  const std::shared_ptr<SummaryFileWriter> writer_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<TrainingEvents>> OpenEventFile(const std::string& folder) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<SummaryFileWriter> writer,
                          SummaryFileWriter::Shared(folder));
  return std::make_shared<EventFiles>(std::move(writer));
}

}  // namespace sluice
