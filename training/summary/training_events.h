// The interface through which the hooks of a training loop write events for TensorBoard.
// SummaryFileWriter implements it and describes the methods.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_TRAINING_SUMMARY_TRAINING_EVENTS_H_
#define SLUICE_TRAINING_SUMMARY_TRAINING_EVENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class TrainingEvents {
 public:
  virtual ~TrainingEvents() = default;
  virtual absl::Status AddScalar(std::string_view tag, float value, int64_t step) = 0;
  // Adds `summary`, the value of a summary op.
  virtual absl::Status AddSummary(const Tensor& summary, int64_t step) = 0;
  virtual absl::Status AddSessionLog(const pb::SessionLog& log, int64_t step) = 0;
  virtual absl::Status AddGraph(const Graph& graph) = 0;
  virtual absl::Status AddMetaGraph(const pb::MetaGraphDef& meta_graph) = 0;
  virtual absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag) = 0;
  virtual absl::Status Flush() = 0;
};

// A function that opens the writer of a folder. Hooks that write to the same folder share a writer.
using OpenEvents =
    std::function<absl::StatusOr<std::shared_ptr<TrainingEvents>>(const std::string& folder)>;

}  // namespace sluice

#endif  // SLUICE_TRAINING_SUMMARY_TRAINING_EVENTS_H_
