// The clients of the soak test that send what no client library sends.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bazel/fuzz/mutate.h"
#include "distributed/message/bytes.h"
#include "distributed/message/service_methods.h"
#include "distributed/proto/master.pb.h"
#include "distributed/rpc/rpc_client.h"
#include "graph/status.h"
#include "tests/attacks/soak_client.h"
#include "tests/fuzz/made_graph.h"

namespace sluice::soak {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kStepMs = 500;
// A server that has not answered by then does not end its steps.
constexpr int64_t kAnswerMs = 20'000;
constexpr int64_t kCallMs = 300;
constexpr size_t kFetches = 3;
constexpr unsigned kTruncationsIn = 4;
constexpr char kHandle[] = "SSSSSSSSSSSSSSSS";  // in corpus files

class RawClient {
 public:
  RawClient(const ClientOptions& options, Report* report)
      : address_(options.target.substr(options.target.rfind('/') + 1)), report_(report) {
    RpcClient::Options client;
    client.lanes = false;
    auto made = RpcClient::Make(client);
    if (made.ok()) client_ = *std::move(made);
  }
  bool ok() const { return client_ != nullptr; }

  absl::StatusOr<std::string> Call(const std::string& path, std::string_view bytes,
                                   int64_t timeout_ms) {
    const auto start = Clock::now();
    const auto response = client_->Run(
        {.address = address_, .path = path, .request = BytesOf(bytes), .timeout_ms = timeout_ms});
    report_->Count(response.status(), start);
    if (!response.ok()) return response.status();
    return TextOf(*response);
  }

 private:
  const std::string address_;
  Report* const report_;
  std::unique_ptr<RpcClient> client_;
};

// Sends one made graph, its steps, and usually the end of its session.
class GraphAttack {
 public:
  GraphAttack(RawClient& client, Report& report, uint64_t seed)
      : client_(client), report_(report), seed_(seed), random_(seed) {}

  void Run() {
    std::string choices(16 + random_() % 400, '\0');
    for (char& c : choices) c = static_cast<char>(random_());
    ByteReader bytes(choices);
    const MadeGraph made = MakeGraph(bytes);
    pb::CreateSessionRequest request;
    *request.mutable_graph_def() = made.def;
    // Shared variables outlive sessions by design. Here memory must not grow.
    request.mutable_config()->set_isolate_session_state(true);
    pb::CreateSessionResponse created;
    const auto answer = Send("CreateSession", request);
    if (!answer.ok() || !created.ParseFromString(*answer)) return;
    RunSteps(made, created.session_handle());
    if (random_() % 50 == 0) return;  // the session ends with this client
    pb::CloseSessionRequest close;
    close.set_session_handle(created.session_handle());
    (void)client_.Call(MasterMethod("CloseSession"), close.SerializeAsString(), kAnswerMs);
  }

 private:
  void RunSteps(const MadeGraph& made, const std::string& handle) {
    pb::RunStepRequest step;
    step.set_session_handle(handle);
    step.mutable_options()->set_timeout_in_ms(kStepMs);
    for (const auto& [name, value] : made.feeds) {
      pb::NamedTensorProto* feed = step.add_feed();
      feed->set_name(name + ":0");
      *feed->mutable_tensor() = value;
    }
    for (const std::string& target : made.targets) step.add_target(target);
    if (!made.targets.empty()) (void)Send("RunStep", step);
    for (size_t i = 0; i < std::min(kFetches, made.fetches.size()); ++i) {
      step.clear_fetch();
      step.add_fetch(made.fetches[made.fetches.size() - 1 - i]);
      (void)Send("RunStep", step);
    }
  }

  template <typename Message>
  absl::StatusOr<std::string> Send(const char* method, const Message& message) {
    std::string bytes = message.SerializeAsString();
    if (random_() % 8 == 0) Mutate(bytes, random_, kTruncationsIn);
    const auto start = Clock::now();
    auto answer = client_.Call(MasterMethod(method), bytes, kAnswerMs);
    const bool is_late = Clock::now() - start > std::chrono::milliseconds(kAnswerMs / 2);
    if (is_late || absl::IsUnavailable(answer.status())) {
      report_.AddError(StrCat(method, " of graph ", seed_, ": ",
                              answer.ok() ? "late" : answer.status().ToString()));
    }
    return answer;
  }

  RawClient& client_;
  Report& report_;
  const uint64_t seed_;
  std::mt19937_64 random_;
};

// The methods in the order in which corpus files count them, then others. Empty: not called. Reset
// and CleanupAll end the sessions and variables of all clients, by their purpose.
const std::vector<std::string>& Methods() {
  static const auto& methods = *[] {
    auto* all = new std::vector<std::string>;
    for (const char* name :
         {"CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession",
          "ListDevices", "", "MakeCallable", "RunCallable", "ReleaseCallable"}) {
      all->push_back(*name == '\0' ? "" : MasterMethod(name));
    }
    for (const char* name : {"GetStatus", "CreateWorkerSession", "DeleteWorkerSession",
                             "RegisterGraph", "DeregisterGraph", "RunGraph", "CleanupGraph", "",
                             "RecvTensor", "Logging", "Tracing", "CompleteGroup", "RecvBuf"}) {
      all->push_back(*name == '\0' ? "" : WorkerMethod(name));
    }
    all->insert(all->end(), {kStallsMethod, kMetricsMethod, "/grpc.health.v1.Health/Check",
                             "/tensorflow.MasterService/NoSuchMethod", "/"});
    return all;
  }();
  return methods;
}

struct RecordedCall {
  size_t method;
  std::string message;
};

// The calls of a file of services_fuzz: a byte for the method, two for the length, the message.
std::vector<RecordedCall> ReadCalls(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<RecordedCall> calls;
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(bytes[at])); };
  for (size_t at = 0; at + 3 <= bytes.size();) {
    const size_t length = std::min<size_t>(byte(at + 1) | byte(at + 2) << 8, bytes.size() - at - 3);
    calls.push_back({byte(at), bytes.substr(at + 3, length)});
    at += 3 + length;
  }
  return calls;
}

// Sends the calls of one file, some of them damaged, in one session.
class CallAttack {
 public:
  CallAttack(RawClient& client, Pace& pace, std::mt19937_64& random)
      : client_(client), pace_(pace), random_(random) {}

  // False after the end of standard input.
  bool Run(const std::vector<RecordedCall>& calls) {
    for (const RecordedCall& call : calls) {
      if (!pace_.Next()) return false;
      const std::vector<std::string>& methods = Methods();
      const size_t method = random_() % 4 == 0 ? random_() : call.method;
      const std::string& path = methods[method % methods.size()];
      if (path.empty()) continue;
      std::string message = call.message;
      for (size_t at; (at = message.find(kHandle)) != std::string::npos;) {
        message.replace(at, sizeof(kHandle) - 1, handle_);
      }
      if (random_() % 2 == 0) Mutate(message, random_, kTruncationsIn);
      const auto answer = client_.Call(path, message, kCallMs);
      pb::CreateSessionResponse created;
      if (answer.ok() && path == MasterMethod("CreateSession") &&
          created.ParseFromString(*answer)) {
        Close();
        handle_ = created.session_handle();
      }
    }
    Close();
    return true;
  }

 private:
  void Close() {
    if (handle_ == kNone) return;
    pb::CloseSessionRequest request;
    request.set_session_handle(std::exchange(handle_, kNone));
    (void)client_.Call(MasterMethod("CloseSession"), request.SerializeAsString(), kAnswerMs);
  }

  static constexpr char kNone[] = "0000000000000000";
  RawClient& client_;
  Pace& pace_;
  std::mt19937_64& random_;
  std::string handle_ = kNone;
};

}  // namespace

int SendGraphs(const ClientOptions& options) {
  Report report;
  RawClient client(options, &report);
  if (!client.ok()) return 1;
  Pace pace(options.per_second);
  for (uint64_t seed = options.seed; pace.Next(); ++seed) {
    GraphAttack(client, report, seed).Run();
    report.PrintIfDue();
  }
  return 0;
}

int SendCalls(const ClientOptions& options) {
  Report report;
  RawClient client(options, &report);
  if (!client.ok() || options.arguments.empty()) return 1;
  std::vector<std::vector<RecordedCall>> files;
  for (const std::string& path : options.arguments) files.push_back(ReadCalls(path));
  std::mt19937_64 random(options.seed);
  Pace pace(options.per_second);
  while (CallAttack(client, pace, random).Run(files[random() % files.size()])) {
    report.PrintIfDue();
  }
  return 0;
}

}  // namespace sluice::soak
