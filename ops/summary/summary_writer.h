// The resource behind a SummaryWriter handle. It keeps events in memory and writes them in batches.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_
#define SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/device/resource_manager.h"
#include "graph/format/proto/event.pb.h"
#include "graph/mutex.h"
#include "ops/summary/event_file.h"

namespace sluice {

class SummaryWriterResource : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow22SummaryWriterInterfaceE";

  // Write flushes the waiting events if there are more than `max_queue`, or if the last flush was
  // at least `flush_millis` ago.
  SummaryWriterResource(std::unique_ptr<EventFile> file, int32_t max_queue, int32_t flush_millis);
  ~SummaryWriterResource() override;
  std::string DebugString() const override { return "summary writer '" + file_->path() + "'"; }

  // Sets the time of the event if it has none.
  absl::Status Write(pb::Event event);
  absl::Status Flush();

 private:
  absl::Status FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<EventFile> file_;
  const size_t max_queue_;
  const double flush_seconds_;
  Mutex mutex_;
  std::vector<pb::Event> waiting_ ABSL_GUARDED_BY(mutex_);
  double last_flush_ ABSL_GUARDED_BY(mutex_);  // wall time
};

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_SUMMARY_WRITER_H_
