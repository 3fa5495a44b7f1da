// The network of a simulated cluster. The delay of each message is random, so messages overtake
// each other. Requests and responses may be lost, links may be broken for a while, and tasks may
// crash. Callers see the errors that gRPC would report.
#ifndef SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_
#define SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/message/rpc_call.h"
#include "distributed/rpc/rpc_client.h"
#include "tests/simulate/simulation.h"

namespace sluice {

class FakeWire {
 public:
  struct Options {
    std::function<int64_t()> delay;  // of one message, in microseconds
    std::function<bool()> is_lost;   // whether a message is lost; empty: none is
    int64_t detect_us = 20'000;      // after a loss, until the call ends with UNAVAILABLE
    std::set<std::string> blocking;  // methods whose handlers block: each call gets an actor
  };
  FakeWire(Simulation* world, Options options) : world_(world), options_(std::move(options)) {}

  // Starts a task with these methods. It replaces an earlier task at `address`.
  void Open(const std::string& address, std::vector<RpcMethod> methods);
  // Ends the task: calls to it and from it end with UNAVAILABLE, and its handlers are cancelled.
  void Close(const std::string& address);
  // Breaks the links of the task for this time. Messages to and from it arrive later.
  void Cut(const std::string& address, int64_t microseconds);
  // The client by which the task at `address` makes calls. It can be made before Open and used
  // until Close. The wire outlives it.
  std::unique_ptr<RpcClient> ClientOf(const std::string& address);

  int64_t calls() const { return calls_; }
  // A hash of all messages that arrived: their content, time, sender and receiver.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  class Client;
  struct Task {
    std::map<std::string, std::function<void(RpcCall&)>> methods;
  };
  struct Exchange;
  class ServerCall;
  using ExchangeRef = std::shared_ptr<Exchange>;
  using Response = absl::StatusOr<grpc::ByteBuffer>;

  void Start(const std::string& from, int life, RpcClient::Call call, RpcClient::Done done);
  void Arrive(const ExchangeRef& exchange);
  void Respond(const ExchangeRef& exchange, const Response& response);
  // Gives the caller the response, unless it has one already.
  void End(const ExchangeRef& exchange, Response response);
  // Notifies the handler that the caller does not wait any more.
  void GiveUp(const ExchangeRef& exchange);
  // Returns for how many microseconds the links of the caller or of the called task stay broken. 0
  // or less if they are not broken.
  int64_t Outage(const Exchange& exchange) const;
  void Note(const Exchange& exchange, uint64_t what);

  Simulation* const world_;
  const Options options_;
  // By address.
  std::map<std::string, std::shared_ptr<Task>> tasks_;  // running tasks
  std::map<std::string, int> lives_;                    // how many tasks have ended there
  std::map<std::string, int64_t> cut_until_;
  std::map<int64_t, ExchangeRef> exchanges_;  // those that have not ended
  int64_t calls_ = 0;
  uint64_t fingerprint_ = 0xcbf29ce484222325;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_
