// Calls of any bytes to the master's and the worker's services, one after the other, are answered
// with a result or an error; nothing of a session is left when the services end.
//
// An input is a list of calls: a byte for the method, two for the length, the message. In messages
// sixteen S stand for the handle of the session that was made last.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/master/master.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/wire/tensor_message.h"
#include "distributed/worker/worker.h"
#include "executor/device/device_set.h"
#include "google/protobuf/stubs/logging.h"

namespace {

using namespace sluice;  // NOLINT: a test

constexpr char kTask[] = "/job:localhost/replica:0/task:0";
constexpr char kHandle[] = "SSSSSSSSSSSSSSSS";
constexpr auto kPatience = std::chrono::milliseconds(100);

class Call final : public RpcCall {
 public:
  explicit Call(const std::string& bytes) {
    grpc::Slice slice(bytes);
    request_ = grpc::ByteBuffer(&slice, 1);
  }
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  void Finish(const absl::Status& status, const grpc::ByteBuffer& response) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (finished_) std::abort();  // answered twice
    finished_ = true;
    ok_ = status.ok();
    response_ = response;
  }
  bool finished() {
    std::lock_guard<std::mutex> lock(mutex_);
    return finished_;
  }
  const grpc::ByteBuffer* response() { return ok_ ? &response_ : nullptr; }

 private:
  grpc::ByteBuffer request_, response_;
  CancellationManager cancellation_;
  std::mutex mutex_;
  bool finished_ = false, ok_ = false;
};

// Cancels the call that is under way for too long: a step may wait for ever, as it was told to.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Run(); }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  void Watch(Call* call) {
    std::lock_guard<std::mutex> lock(mutex_);
    call_ = call;
    changed_.notify_all();
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ends_) {
      changed_.wait(lock, [this] { return ends_ || call_ != nullptr; });
      Call* const watched = call_;
      const bool changed =
          changed_.wait_for(lock, kPatience, [&] { return ends_ || call_ != watched; });
      if (changed || watched == nullptr) continue;
      watched->cancellation().StartCancel();
      changed_.wait(lock, [&] { return ends_ || call_ != watched; });
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  Call* call_ = nullptr;
  bool ends_ = false;
  std::thread thread_;
};

class Services {
 public:
  Services()
      : devices_(DeviceSet::Cpus(1, kTask)),
        addresses_(ClusterSpec()),
        rendezvous_(kTask,
                    [](const std::string&, int64_t, const std::string&, CancellationManager*,
                       const Rendezvous::Done& done) {
                      done(absl::UnavailableError("no other task"), Tensor(), false);
                    }),
        worker_(kTask, devices_, &rendezvous_, &addresses_, Options()),
        master_({kTask, devices_, Options(), nullptr}),
        methods_(master_.Methods()) {
    for (RpcMethod& method : worker_.Methods()) methods_.push_back(std::move(method));
  }
  ~Services() {
    master_.CloseSessions();
    worker_.CancelSteps();
    for (const auto& call : calls_) {
      if (!call->finished()) std::abort();  // never answered
    }
  }

  void Run(uint8_t method, std::string bytes) {
    for (size_t at; (at = bytes.find(kHandle)) != std::string::npos;) {
      bytes.replace(at, handle_.size(), handle_);
    }
    calls_.push_back(std::make_unique<Call>(bytes));
    Call& call = *calls_.back();
    static Watchdog watchdog;
    watchdog.Watch(&call);
    const RpcMethod& called = methods_[method % methods_.size()];
    called.handle(call);
    watchdog.Watch(nullptr);
    pb::CreateSessionResponse created;
    if (called.path.ends_with("/CreateSession") && call.response() != nullptr &&
        DecodeMessage(*call.response(), &created).ok()) {
      handle_ = created.session_handle();
    }
  }

 private:
  static SessionOptions Options() {
    SessionOptions options;
    options.intra_op_threads = 1;
    options.inter_op_threads = 1;
    options.stall_warning_ms = 0;
    options.warn = [](const std::string&) {};
    return options;
  }

  const std::shared_ptr<DeviceSet> devices_;
  AddressBook addresses_;
  StepRendezvousTable rendezvous_;
  Worker worker_;
  Master master_;
  std::vector<RpcMethod> methods_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::string handle_ = "0000000000000000";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_quiet = [] {
    google::protobuf::SetLogHandler(nullptr);  // what it finds wrong comes back as a status
    return true;
  }();
  static_cast<void>(is_quiet);
  Services services;
  for (size_t at = 0; at + 3 <= size;) {
    const uint8_t method = data[at];
    const size_t length = std::min<size_t>(data[at + 1] | data[at + 2] << 8, size - at - 3);
    services.Run(method, std::string(reinterpret_cast<const char*>(data + at + 3), length));
    at += 3 + length;
  }
  return 0;
}
