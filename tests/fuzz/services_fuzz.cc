// Calls the services of master and worker with arbitrary bytes, one call after the other. Each call
// must get a result or an error, and no part of a session may remain when the services end.
//
// An input is a list of calls: one byte for the method, two for the length, and the message.
// Sixteen letters S in a message stand for the handle of the latest session.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/master/master.h"
#include "distributed/message/tensor_message.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/worker/worker.h"
#include "executor/device/device_set.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/mutex.h"
#include "tests/fuzz/fuzz_call.h"

namespace {

using namespace sluice;  // NOLINT: a test

constexpr char kTask[] = "/job:localhost/replica:0/task:0";
constexpr char kHandle[] = "SSSSSSSSSSSSSSSS";
constexpr auto kPatience = std::chrono::milliseconds(100);

// Cancels a call that takes too long. Its step may wait forever, because the input requests it.
class Watchdog {
 public:
  Watchdog() : thread_([this] { Run(); }) {}
  ~Watchdog() {
    {
      ScopedLock lock(&mutex_);
      ends_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  void Watch(FuzzCall* call) {
    ScopedLock lock(&mutex_);
    call_ = call;
    changed_.NotifyAll();
  }

 private:
  void Run() {
    ScopedLock lock(&mutex_);
    while (!ends_) {
      while (!ends_ && call_ == nullptr) changed_.Wait(&mutex_);
      FuzzCall* const watched = call_;
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      while (!ends_ && call_ == watched && changed_.WaitUntil(&mutex_, deadline)) {
      }
      if (ends_ || call_ != watched) continue;
      watched->cancellation().StartCancel();
      while (!ends_ && call_ == watched) changed_.Wait(&mutex_);
    }
  }
  Mutex mutex_;
  CondVar changed_;
  FuzzCall* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class Services {
 public:
  Services()
      : devices_(DeviceSet::Cpus(1, kTask)),
        addresses_(ClusterSpec()),
        rendezvous_(kTask, &Unreachable),
        worker_(
            kTask, devices_, &rendezvous_, &addresses_,
            [](const std::shared_ptr<const AddressBook>&) { return &Unreachable; }, Options()),
        master_({kTask, devices_, Options(), nullptr}),
        methods_(master_.Methods()) {
    for (RpcMethod& method : worker_.Methods()) methods_.push_back(std::move(method));
  }
  ~Services() {
    master_.CloseSessions();
    worker_.CancelSteps();
    for (const auto& call : calls_) {
      if (!call->response()) std::abort();  // never finished
    }
  }

  void Run(uint8_t method, std::string bytes) {
    for (size_t at; (at = bytes.find(kHandle)) != std::string::npos;) {
      bytes.replace(at, handle_.size(), handle_);
    }
    calls_.push_back(std::make_unique<FuzzCall>(bytes));
    FuzzCall& call = *calls_.back();
    static Watchdog watchdog;
    watchdog.Watch(&call);
    const RpcMethod& called = methods_[method % methods_.size()];
    called.handle(call);
    watchdog.Watch(nullptr);
    const auto response = call.response();
    pb::CreateSessionResponse created;
    if (called.path.ends_with("/CreateSession") && response && response->ok() &&
        DecodeMessage(**response, &created).ok()) {
      handle_ = created.session_handle();
    }
  }

 private:
  static void Unreachable(const std::string&, int64_t, const std::string&, CancellationManager*,
                          const Rendezvous::Done& done) {
    done(absl::UnavailableError("no other task"), Tensor(), false);
  }
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
  std::vector<std::unique_ptr<FuzzCall>> calls_;
  std::string handle_ = "0000000000000000";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_quiet = [] {
    google::protobuf::SetLogHandler(nullptr);  // its errors are returned as a status
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
