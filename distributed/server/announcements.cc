#include "distributed/server/announcements.h"

#include <utility>
#include <vector>

#include "distributed/wire/slice_reader.h"
#include "graph/status.h"
#include "grpcpp/support/slice.h"

namespace sluice {

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
  uint64_t heard;
  if (absl::Status status = DecodeCount(call.request(), &heard); !status.ok()) {
    return call.Finish(status, grpc::ByteBuffer());
  }
  const CancellationManager::Token token = call.cancellation().NewToken();
  uint64_t id;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    id = next_++;
    waiting_[id] = {&call, token, heard};
  }
  if (!call.cancellation().Register(token, [this, id] { Cancel(id); })) return Cancel(id);
  std::unique_lock<std::mutex> lock(mutex_);
  const bool is_stopped = stopped_;
  lock.unlock();
  Answer(is_stopped ? absl::UnavailableError("the server stops") : absl::OkStatus());
}

void Announcements::Cancel(uint64_t id) {
  RpcCall* call = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = waiting_.find(id);
    if (it == waiting_.end()) return;
    call = it->second.call;
    waiting_.erase(it);
  }
  call->Finish(absl::CancelledError("nobody waits for announcements any more"), {});
}

void Announcements::Answer(const absl::Status& status) {
  std::vector<Waiting> answered;
  uint64_t count;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    count = count_;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (status.ok() && it->second.heard >= count) {
        ++it;
        continue;
      }
      answered.push_back(it->second);
      it = waiting_.erase(it);
    }
  }
  for (const Waiting& w : answered) {
    w.call->cancellation().Deregister(w.token);  // Cancel finds nothing
    w.call->Finish(status, status.ok() ? EncodeCount(count) : grpc::ByteBuffer());
  }
}

void Announcements::Announce() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }
  Answer(absl::OkStatus());
}

void Announcements::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  Answer(absl::UnavailableError("the server stops"));
}

}  // namespace sluice
