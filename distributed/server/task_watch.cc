#include "distributed/server/task_watch.h"

#include <utility>

#include "distributed/cluster/address_book.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/rpc/rpc_client.h"
#include "distributed/server/announcements.h"

namespace sluice {
namespace {

// Whether a second attempt would end with the same error.
bool IsPermanent(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsUnimplemented(status) ||
         absl::IsPermissionDenied(status) || absl::IsInvalidArgument(status);
}

}  // namespace

struct TaskWatch::Call {
  std::string path;
  grpc::ByteBuffer request;
  RpcClient::Done done;
};

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
    ScopedLock lock(&mutex_);
    is_ending_ = true;
  }
  cancellation_.StartCancel();
  ScopedLock lock(&mutex_);
  while (!has_ended_) changed_.Wait(&mutex_);
}

void TaskWatch::Start(Call call) {
  client_->Start({.address = addresses_->Find(task_).value_or(""),
                  .path = std::move(call.path),
                  .request = std::move(call.request),
                  .cancellation = &cancellation_,
                  .wait_for_ready = true},
                 std::move(call.done));
}

bool TaskWatch::is_ending() {
  ScopedLock lock(&mutex_);
  return is_ending_;
}

void TaskWatch::Continue(void (TaskWatch::*next)()) {
  {
    ScopedLock lock(&mutex_);
    if (is_ending_ || next == nullptr) {
      has_ended_ = true;
      changed_.NotifyAll();
      return;
    }
  }
  (this->*next)();
}

void TaskWatch::Greet() {
  Start({WorkerMethod("GetStatus"), EncodeMessage(pb::GetStatusRequest()),
         [this](const absl::StatusOr<grpc::ByteBuffer>& response) {
           if (response.ok() && handlers_.is_there) handlers_.is_there();
           seen_ = 0;
           Continue(response.ok()                    ? &TaskWatch::Await
                    : IsPermanent(response.status()) ? nullptr
                                                     : &TaskWatch::Greet);
         }});
}

void TaskWatch::Await() {
  Start({kAwaitAnnouncement, EncodeCount(seen_),
         [this](const absl::StatusOr<grpc::ByteBuffer>& response) {
           absl::Status status = response.status();
           if (status.ok()) status = DecodeCount(*response, &seen_);
           if (status.ok()) {
             if (handlers_.announced) handlers_.announced();
             return Continue(&TaskWatch::Await);
           }
           if (handlers_.gone && !is_ending()) handlers_.gone(status);
           Continue(IsPermanent(status) ? nullptr : &TaskWatch::Greet);
         }});
}

}  // namespace sluice
