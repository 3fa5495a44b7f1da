// The writer behind SummaryWriter's handle: events wait in memory and go to the file in bundles.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_
#define SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/device/resource_manager.h"
#include "graph/format/proto/event.pb.h"
#include "ops/summary/event_file.h"

namespace sluice {

class SummaryWriterResource : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow22SummaryWriterInterfaceE";

  // Every `max_queue` events, and `flush_millis` after the last time, what waits is written.
  SummaryWriterResource(std::unique_ptr<EventFile> file, int32_t max_queue, int32_t flush_millis);
  ~SummaryWriterResource() override;
  std::string DebugString() const override { return "summary writer '" + file_->path() + "'"; }

  // The event gets the time if it has none.
  absl::Status Write(pb::Event event);
  absl::Status Flush();

 private:
  absl::Status FlushLocked();
  const std::unique_ptr<EventFile> file_;
  const size_t max_queue_;
  const double flush_seconds_;
  std::mutex mutex_;
  std::vector<pb::Event> waiting_;  // guarded by mutex_
  double last_flush_;               // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_
