#include "ops/summary/summary_writer.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {

SummaryWriterResource::SummaryWriterResource(std::unique_ptr<EventFile> file, int32_t max_queue,
                                             int32_t flush_millis)
    : file_(std::move(file)),
      max_queue_(static_cast<size_t>(std::max(max_queue, 0))),
      flush_seconds_(flush_millis / 1000.0),
      last_flush_(WallTime()) {}

SummaryWriterResource::~SummaryWriterResource() { Flush().IgnoreError(); }

absl::Status SummaryWriterResource::Write(pb::Event event) {
  const double now = WallTime();
  if (event.wall_time() == 0) event.set_wall_time(now);
  ScopedLock lock(&mutex_);
  waiting_.push_back(std::move(event));
  if (waiting_.size() <= max_queue_ && now < last_flush_ + flush_seconds_) return absl::OkStatus();
  return FlushLocked();
}

absl::Status SummaryWriterResource::Flush() {
  ScopedLock lock(&mutex_);
  return FlushLocked();
}

absl::Status SummaryWriterResource::FlushLocked() {
  absl::Status status;
  for (const pb::Event& event : waiting_) status.Update(file_->Write(event));
  waiting_.clear();  // also after an error, because no later write of these events would succeed
  status.Update(file_->Flush());
  last_flush_ = status.ok() ? WallTime() : 0;  // 0: the next Write returns the error too
  return status;
}

}  // namespace sluice
