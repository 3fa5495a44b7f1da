// The wire of a simulated cluster: calls between tasks take the time that the world draws for each
// of them, so that they overtake each other; they may be lost, or their answers; links may be down
// for a while, tasks may be gone. What a caller sees is what gRPC would tell it.
#ifndef SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_
#define SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distributed/wire/rpc_call.h"
#include "distributed/wire/rpc_client.h"
#include "tests/simulate/simulation.h"

namespace sluice {

class FakeWire {
 public:
  struct Options {
    std::function<int64_t()> delay;  // of one message, in microseconds
    std::function<bool()> is_lost;   // likewise; empty: none is
    int64_t detect_us = 20'000;      // until a lost message shows as a lost connection
    std::set<std::string> blocking;  // methods whose handlers wait: they get an actor
  };
  FakeWire(Simulation* world, Options options) : world_(world), options_(std::move(options)) {}

  // A task at `address` is up, with these methods; the one that was there is gone.
  void Open(const std::string& address, std::vector<RpcMethod> methods);
  // It is gone: calls to it and from it end with UNAVAILABLE. Its handlers are told.
  void Close(const std::string& address);
  // Messages to it and from it wait so long.
  void Cut(const std::string& address, int64_t microseconds);
  // What the task at `address` calls with, from before Open until Close. Outlived by the wire.
  std::unique_ptr<RpcClient> ClientOf(const std::string& address);

  int64_t calls() const { return calls_; }
  // Of all messages that arrived: who sent which to whom, when.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  class Client;
  struct Task {
    std::map<std::string, std::function<void(RpcCall&)>> methods;
  };
  struct Exchange;
  class ServerCall;
  using ExchangeRef = std::shared_ptr<Exchange>;

  void Start(const std::string& from, int life, RpcClient::Call call, RpcClient::Done done);
  void Arrive(const ExchangeRef& exchange);
  void Answer(const ExchangeRef& exchange, absl::Status status, grpc::ByteBuffer response);
  // The caller hears of the end; only once.
  void End(const ExchangeRef& exchange, absl::Status status, grpc::ByteBuffer response);
  // The handler hears that the caller does not wait any more.
  void GiveUp(const ExchangeRef& exchange);
  // Until the links of both can be used again.
  int64_t Outage(const Exchange& exchange) const;
  void Note(const Exchange& exchange, uint64_t what);

  Simulation* const world_;
  const Options options_;
  std::map<std::string, std::shared_ptr<Task>> tasks_;  // those that are up
  std::map<std::string, int> lives_;          // by address: how many tasks have ended there
  std::map<std::string, int64_t> cut_until_;  // by address
  std::map<int64_t, ExchangeRef> exchanges_;  // under way
  int64_t calls_ = 0;
  uint64_t fingerprint_ = 0xcbf29ce484222325;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_FAKE_WIRE_H_
