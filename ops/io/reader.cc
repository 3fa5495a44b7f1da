#include "ops/io/reader.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/escaping.h"
#include "graph/format/proto/reader_base.pb.h"
#include "graph/status.h"

namespace sluice {

std::string Reader::Describe() const { return StrCat(kind_, " '", name_, "'"); }

std::string Reader::DebugString() const {
  ScopedLock lock(&state_mutex_);
  return StrCat("reader ", Describe(), ": ", records_produced_, " records of ", work_finished_,
                " files");
}

// --- the line

void Reader::Read(const Caller& caller, std::shared_ptr<QueueResource> queue, Done done) {
  ReadUpTo(caller, std::move(queue), 1, std::move(done));
}

void Reader::ReadUpTo(const Caller& caller, std::shared_ptr<QueueResource> queue, int64_t count,
                      Done done) {
  if (count <= 0) return done(Records());
  Request request;
  request.caller = caller;
  request.queue = std::move(queue);
  request.records_max = count;
  request.done = std::move(done);
  Submit(std::move(request));
}

void Reader::Submit(Request request) {
  Line refused;
  {
    ScopedLock lock(&line_mutex_);
    const int64_t id = request.id = next_id_++;
    line_.push_back(std::move(request));
    if (line_.size() > 1) {
      const auto self = shared_from_this();
      const bool waits = line_.back().wait.Start(
          line_.back().caller, Describe(), [self, id] { self->Cancel(id); },
          [] { return std::string("waits for another read of this reader"); });
      if (waits) return;
      refused.splice(refused.end(), line_, std::prev(line_.end()));
    }
  }
  if (refused.empty()) return Serve();
  refused.front().done(absl::CancelledError("Read operation was cancelled"));
}

void Reader::Cancel(int64_t id) {
  Line cancelled;
  {
    ScopedLock lock(&line_mutex_);
    const auto found =
        std::find_if(line_.begin(), line_.end(), [id](const Request& r) { return r.id == id; });
    // Leaves out the first request. It may be waiting for an element of the queue, and then the
    // queue itself cancels it.
    if (found == line_.end() || found == line_.begin()) return;
    cancelled.splice(cancelled.end(), line_, found);
  }
  cancelled.front().wait.End();
  cancelled.front().done(absl::CancelledError("Read operation was cancelled"));
}

void Reader::Serve() {
  while (true) {
    Request* head;
    {
      ScopedLock lock(&line_mutex_);
      head = &line_.front();  // valid until Answer removes the request
    }
    absl::Status status;
    while (!ReadWork(*head, &status)) {
      // The callback may run before Dequeue returns. Whichever of the two ends last goes on with
      // the request.
      struct Turn {
        std::atomic<bool> one_has_ended{false};
        absl::Status status;
      };
      const auto turn = std::make_shared<Turn>();
      const auto self = shared_from_this();
      head->queue->Dequeue(head->caller, [self, turn](absl::StatusOr<Tensors> element) {
        self->StartDequeued(std::move(element), &turn->status);
        if (!turn->one_has_ended.exchange(true)) return;
        self->Resume(turn->status);
      });
      if (!turn->one_has_ended.exchange(true)) return;
      status = turn->status;
      if (!status.ok()) break;
    }
    if (!Answer(status)) return;
  }
}

void Reader::Resume(const absl::Status& status) {
  if (status.ok()) return Serve();
  if (Answer(status)) Serve();
}

bool Reader::Answer(const absl::Status& status) {
  Line answered;
  Request* next = nullptr;
  {
    ScopedLock lock(&line_mutex_);
    answered.splice(answered.end(), line_, line_.begin());
    if (!line_.empty()) next = &line_.front();
  }
  if (next != nullptr) next->wait.End();
  Request& request = answered.front();
  if (status.ok()) {
    request.done(std::move(request.records));
  } else {
    request.done(status);
  }
  return next != nullptr;
}

// --- work

void Reader::StartDequeued(absl::StatusOr<Tensors> element, absl::Status* status) {
  ScopedLock lock(&state_mutex_);
  work_.clear();
  if (!element.ok()) {
    *status = element.status();
    return;
  }
  if (element->size() != 1) {
    *status = InvalidArgument("Expected single component queue");
  } else if ((*element)[0].dtype() != DT_STRING) {
    *status = InvalidArgument("Expected queue with single string component");
  } else if ((*element)[0].num_elements() != 1) {
    *status = InvalidArgument("Expected to dequeue a one-element string tensor");
  }
  if (!status->ok()) return;
  work_ = (*element)[0].data<std::string>()[0];
  *status = StartWork(work_);
  if (status->ok()) ++work_started_;
}

bool Reader::ReadWork(Request& request, absl::Status* status) {
  ScopedLock lock(&state_mutex_);
  while (work_finished_ < work_started_) {
    Record record;
    bool is_last = false;
    const absl::StatusOr<bool> produced = Next(work_, &record, &is_last);
    if (!produced.ok()) {
      *status = produced.status();
      return true;
    }
    if (*produced) {
      ++records_produced_;
      request.records.push_back(std::move(record));
    }
    if (!*produced || is_last) {
      FinishWork();
      work_finished_ = work_started_;
      if (!request.records.empty()) return true;
    }
    if (static_cast<int64_t>(request.records.size()) == request.records_max) return true;
  }
  return false;
}

// --- state

int64_t Reader::num_records_produced() const {
  ScopedLock lock(&state_mutex_);
  return records_produced_;
}

int64_t Reader::num_work_units_completed() const {
  ScopedLock lock(&state_mutex_);
  return work_finished_;
}

absl::Status Reader::Reset() {
  ScopedLock lock(&state_mutex_);
  ResetState();
  return absl::OkStatus();
}

void Reader::ResetState() {
  FinishWork();
  work_started_ = work_finished_ = records_produced_ = 0;
  work_.clear();
}

absl::StatusOr<std::string> Reader::SerializeState() const {
  if (!HasState()) return absl::UnimplementedError("Reader SerializeState");
  ScopedLock lock(&state_mutex_);
  pb::ReaderBaseState state;
  state.set_work_started(work_started_);
  state.set_work_finished(work_finished_);
  state.set_num_records_produced(records_produced_);
  if (!work_.empty()) state.set_current_work(work_);
  return state.SerializeAsString();
}

absl::Status Reader::RestoreState(const std::string& bytes) {
  ScopedLock lock(&state_mutex_);
  const absl::Status status = ReadState(bytes);
  if (!status.ok()) ResetState();
  return status;
}

absl::Status Reader::ReadState(const std::string& bytes) {
  if (!HasState()) return absl::UnimplementedError("Reader RestoreState");
  pb::ReaderBaseState state;
  SLUICE_INVALID_IF(!state.ParseFromString(bytes), "Could not parse state for ", Describe(), ": ",
                    absl::CEscape(bytes));
  SLUICE_INVALID_IF(
      state.work_started() < 0 || state.work_finished() < 0 || state.num_records_produced() < 0,
      "Unexpected negative value when restoring in ", Describe(), ": ", state.ShortDebugString());
  SLUICE_INVALID_IF(state.work_started() > state.work_finished(),
                    "Inconsistent work started vs. finished when restoring in ", Describe(), ": ",
                    state.ShortDebugString());
  work_started_ = state.work_started();
  work_finished_ = state.work_finished();
  records_produced_ = state.num_records_produced();
  work_ = state.current_work();
  return absl::OkStatus();
}

}  // namespace sluice
