#include "distributed/server/announcements.h"

#include <vector>

#include "distributed/message/slice_reader.h"
#include "graph/status.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

absl::Status GaveUp() {
  return absl::CancelledError("the watcher no longer waits for announcements");
}

}  // namespace

grpc::ByteBuffer EncodeCount(uint64_t count) {
  const grpc::Slice slice(&count, sizeof(count));
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status DecodeCount(const grpc::ByteBuffer& bytes, uint64_t* count) {
  grpc::ByteBuffer shared(bytes);
  SliceReader in(&shared);
  if (in.Read(count, sizeof(*count)) && in.left() == 0) return absl::OkStatus();
  return InvalidArgument("damaged message: expected a number of 8 bytes");
}

RpcMethod Announcements::Method() {
  return {kAwaitAnnouncement, [this](RpcCall& call) { Await(call); }, /*blocks=*/false};
}

void Announcements::Await(RpcCall& call) {
  uint64_t seen;
  if (const absl::Status status = DecodeCount(call.request(), &seen); !status.ok()) {
    return call.Finish(status);
  }
  const CancellationManager::Token token = call.cancellation().NewToken();
  bool is_wanted;
  {
    // Registered under the lock: another thread may finish the call as soon as it finds the
    // watcher.
    ScopedLock lock(&mutex_);
    const uint64_t id = next_watcher_++;
    is_wanted = call.cancellation().Register(token, [this, id] { Cancel(id); });
    if (is_wanted) watchers_[id] = {&call, token, seen};
  }
  if (!is_wanted) return call.Finish(GaveUp());
  RespondToWatchers();
}

void Announcements::Cancel(uint64_t id) {
  RpcCall* call = nullptr;
  {
    ScopedLock lock(&mutex_);
    auto it = watchers_.find(id);
    if (it == watchers_.end()) return;
    call = it->second.call;
    watchers_.erase(it);
  }
  call->Finish(GaveUp());
}

void Announcements::RespondToWatchers() {
  std::vector<Watcher> notified;
  absl::StatusOr<grpc::ByteBuffer> response = absl::UnavailableError("the server stops");
  {
    ScopedLock lock(&mutex_);
    if (!stopped_) response = EncodeCount(count_);
    for (auto it = watchers_.begin(); it != watchers_.end();) {
      if (!stopped_ && it->second.seen >= count_) {
        ++it;
        continue;
      }
      notified.push_back(it->second);
      it = watchers_.erase(it);
    }
  }
  for (const Watcher& watcher : notified) {
    watcher.call->cancellation().Deregister(watcher.token);  // a running Cancel finds no watcher
    watcher.call->Finish(response);
  }
}

void Announcements::Announce() {
  {
    ScopedLock lock(&mutex_);
    ++count_;
  }
  RespondToWatchers();
}

void Announcements::Stop() {
  {
    ScopedLock lock(&mutex_);
    stopped_ = true;
  }
  RespondToWatchers();
}

}  // namespace sluice
