#include "tests/simulate/fake_wire.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "distributed/message/bytes.h"
#include "graph/status.h"

namespace sluice {

struct FakeWire::Exchange {
  int64_t id = 0;
  std::string from;
  RpcClient::Call call;
  RpcClient::Done done;
  CancellationManager::Token token = 0;
  std::shared_ptr<Task> task;          // the called task
  std::shared_ptr<ServerCall> server;  // until it is finished
  // Drawn with the call, so that they do not depend on the order of responses.
  int64_t response_delay = 0;
  bool loses_response = false;
  bool is_cut = false;        // the called task has crashed
  bool is_ended = false;      // the caller has a result
  bool is_abandoned = false;  // the caller has given up
};

class FakeWire::ServerCall final : public RpcCall {
 public:
  ServerCall(FakeWire* wire, ExchangeRef exchange)
      : wire_(wire), exchange_(std::move(exchange)), request_(exchange_->call.request) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override {
    // The exchange may have the last reference to this object.
    const auto self = std::exchange(exchange_->server, nullptr);
    wire_->Respond(exchange_, response);
  }

 private:
  FakeWire* const wire_;
  const ExchangeRef exchange_;
  grpc::ByteBuffer request_;
  CancellationManager cancellation_;
};

class FakeWire::Client final : public RpcClient {
 public:
  Client(FakeWire* wire, std::string address)
      : wire_(wire), address_(std::move(address)), life_(wire->lives_[address_]) {}
  void Start(Call call, Done done) override {
    wire_->Start(address_, life_, std::move(call), std::move(done));
  }
  std::vector<Response> RunAll(std::vector<Call> calls) override {
    std::vector<Response> responses(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      Start(std::move(calls[i]), [this, &own = responses[i]](Response& response) {
        own = TakeBytes(response);
        wire_->world_->Wake(&own);
      });
    }
    for (const Response& response : responses) wire_->world_->Wait(&response);
    return responses;
  }

 private:
  FakeWire* const wire_;
  const std::string address_;
  const int life_;
};

std::unique_ptr<RpcClient> FakeWire::ClientOf(const std::string& address) {
  return std::make_unique<Client>(this, address);
}

void FakeWire::Open(const std::string& address, std::vector<RpcMethod> methods) {
  auto task = std::make_shared<Task>();
  for (RpcMethod& method : methods) task->methods[method.path] = std::move(method.handle);
  tasks_[address] = std::move(task);
}

void FakeWire::Close(const std::string& address) {
  const auto found = tasks_.find(address);
  if (found == tasks_.end()) return;
  const std::shared_ptr<Task> task = std::move(found->second);
  tasks_.erase(found);
  ++lives_[address];
  const auto exchanges = exchanges_;
  for (const auto& [id, exchange] : exchanges) {
    if (exchange->from == address) {
      world_->At(exchange->response_delay, [this, e = exchange] { GiveUp(e); });
      End(exchange, absl::UnavailableError("the caller is gone"));
    } else if (exchange->task == task) {
      exchange->is_cut = true;
      world_->At(exchange->response_delay, [this, e = exchange] {
        End(e, absl::UnavailableError("Connection reset by peer"));
      });
    }
  }
}

void FakeWire::Cut(const std::string& address, int64_t microseconds) {
  cut_until_[address] = world_->now() + microseconds;
}

int64_t FakeWire::Outage(const Exchange& exchange) const {
  int64_t until = 0;
  for (const std::string* address : {&exchange.from, &exchange.call.address}) {
    const auto cut = cut_until_.find(*address);
    if (cut != cut_until_.end()) until = std::max(until, cut->second);
  }
  return until - world_->now();
}

void FakeWire::Note(const Exchange& exchange, uint64_t what) {
  const std::hash<std::string> hash;
  for (const uint64_t part :
       {what, static_cast<uint64_t>(world_->now()), static_cast<uint64_t>(exchange.id),
        uint64_t{hash(exchange.call.path)}, uint64_t{hash(exchange.call.address)}}) {
    fingerprint_ = (fingerprint_ ^ part) * 0x100000001b3;
  }
}

void FakeWire::Start(const std::string& from, int life, RpcClient::Call call,
                     RpcClient::Done done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->id = ++calls_;
  exchange->from = from;
  exchange->call = std::move(call);
  exchange->done = std::move(done);
  const int64_t delay = options_.delay();
  const bool loses_request = options_.is_lost && options_.is_lost();
  exchange->response_delay = options_.delay();
  exchange->loses_response = options_.is_lost && options_.is_lost();
  if (life != lives_[from]) {
    return world_->At(
        0, [this, exchange] { End(exchange, absl::UnavailableError("the caller is gone")); });
  }
  exchanges_[exchange->id] = exchange;
  if (CancellationManager* cancellation = exchange->call.cancellation) {
    exchange->token = cancellation->NewToken();
    const auto cancel = [this, exchange] {
      world_->At(0, [this, exchange] {
        End(exchange, absl::CancelledError("CANCELLED"));
        GiveUp(exchange);
      });
    };
    if (!cancellation->Register(exchange->token, cancel)) {
      exchange->token = 0;
      cancel();
    }
  }
  if (exchange->call.timeout_ms > 0) {
    world_->At(exchange->call.timeout_ms * 1000, [this, exchange] {
      if (exchange->is_ended) return;
      End(exchange, absl::DeadlineExceededError("Deadline Exceeded"));
      GiveUp(exchange);
    });
  }
  if (loses_request) {
    return world_->At(options_.detect_us, [this, exchange] {
      End(exchange, absl::UnavailableError("the request was lost"));
    });
  }
  world_->At(delay, [this, exchange] { Arrive(exchange); });
}

void FakeWire::Arrive(const ExchangeRef& exchange) {
  if (exchange->is_ended || exchange->is_abandoned) return;
  if (const int64_t outage = Outage(*exchange); outage > 0) {
    return world_->At(outage, [this, exchange] { Arrive(exchange); });
  }
  const auto task = tasks_.find(exchange->call.address);
  if (task == tasks_.end()) {
    if (exchange->call.wait_for_ready) {
      return world_->At(options_.detect_us, [this, exchange] { Arrive(exchange); });
    }
    return world_->At(exchange->response_delay, [this, exchange] {
      End(exchange, absl::UnavailableError("failed to connect to all addresses"));
    });
  }
  Note(*exchange, 1);
  exchange->task = task->second;
  const auto method = exchange->task->methods.find(exchange->call.path);
  if (method == exchange->task->methods.end()) {
    return Respond(exchange, absl::UnimplementedError(exchange->call.path));
  }
  exchange->server = std::make_shared<ServerCall>(this, exchange);
  // A task's objects live as long as its handlers run.
  const auto handle = [handler = method->second, server = exchange->server, task = exchange->task] {
    handler(*server);
  };
  if (options_.blocking.contains(exchange->call.path)) {
    world_->Spawn(handle);
  } else {
    handle();
  }
}

void FakeWire::Respond(const ExchangeRef& exchange, const Response& response) {
  if (exchange->is_ended || exchange->is_cut) return;
  if (exchange->loses_response) {
    return world_->At(options_.detect_us, [this, exchange] {
      End(exchange, absl::UnavailableError("the answer was lost"));
    });
  }
  world_->At(std::max<int64_t>(Outage(*exchange), 0) + exchange->response_delay,
             [this, exchange, response] {
               // A crash closes the task's connections, so its responses do not arrive.
               if (!exchange->is_cut) End(exchange, response);
             });
}

void FakeWire::End(const ExchangeRef& exchange, Response response) {
  exchange->is_ended = true;
  exchanges_.erase(exchange->id);
  RpcClient::Done done = std::exchange(exchange->done, nullptr);
  if (done == nullptr) return;
  Note(*exchange, 2 + static_cast<uint64_t>(response.status().code()));
  if (exchange->token != 0) exchange->call.cancellation->TryDeregister(exchange->token);
  exchange->call.request.Clear();
  done(response);
}

void FakeWire::GiveUp(const ExchangeRef& exchange) {
  exchange->is_abandoned = true;
  if (const auto server = exchange->server) server->cancellation().StartCancel();
}

}  // namespace sluice
