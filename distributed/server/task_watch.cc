#include "distributed/server/task_watch.h"

#include <utility>

#include "distributed/proto/worker.pb.h"
#include "distributed/server/announcements.h"
#include "distributed/wire/tensor_message.h"
#include "distributed/wire/worker_method.h"

namespace sluice {
namespace {

// Asking again would change nothing.
bool IsForGood(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsUnimplemented(status) ||
         absl::IsPermissionDenied(status) || absl::IsInvalidArgument(status);
}

}  // namespace

TaskWatch::TaskWatch(TaskName task, const AddressBook* addresses, RpcClient* client,
                     Handlers handlers)
    : task_(std::move(task)),
      addresses_(addresses),
      client_(client),
      handlers_(std::move(handlers)) {
  Greet();
}

TaskWatch::~TaskWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  cancellation_.StartCancel();
  std::unique_lock<std::mutex> lock(mutex_);
  ended_changed_.wait(lock, [this] { return ended_; });
}

void TaskWatch::Start(const char* path, grpc::ByteBuffer request, RpcClient::Done done) {
  RpcClient::Call call;
  call.address = addresses_->Find(task_).value_or("");
  call.path = path;
  call.request = std::move(request);
  call.cancellation = &cancellation_;
  call.wait_for_ready = true;
  client_->Start(std::move(call), std::move(done));
}

void TaskWatch::Then(void (TaskWatch::*next)()) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ends_ || next == nullptr) {
      ended_ = true;
      ended_changed_.notify_all();
      return;
    }
  }
  (this->*next)();
}

void TaskWatch::Greet() {
  const std::string path = WorkerMethod("GetStatus");
  Start(path.c_str(), EncodeMessage(pb::GetStatusRequest()),
        [this](const absl::Status& status, const grpc::ByteBuffer&) {
          if (status.ok() && handlers_.is_there) handlers_.is_there();
          heard_ = 0;
          Then(status.ok() ? &TaskWatch::Await : IsForGood(status) ? nullptr : &TaskWatch::Greet);
        });
}

void TaskWatch::Await() {
  Start(kAwaitAnnouncement, EncodeCount(heard_),
        [this](absl::Status status, const grpc::ByteBuffer& bytes) {
          if (status.ok()) status = DecodeCount(bytes, &heard_);
          if (status.ok()) {
            if (handlers_.announced) handlers_.announced();
            return Then(&TaskWatch::Await);
          }
          std::unique_lock<std::mutex> lock(mutex_);
          const bool ends = ends_;
          lock.unlock();
          if (!ends && handlers_.gone) handlers_.gone(status);
          Then(IsForGood(status) ? nullptr : &TaskWatch::Greet);
        });
}

}  // namespace sluice
