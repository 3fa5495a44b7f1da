// The common part of the clients of the soak test (soak.py): the pace of their requests, and their
// reports.
//
// A client sends requests until its standard input ends or it is killed. About once per second it
// prints a line of JSON about the requests since the previous line:
//   {"requests": 2, "answers": {"OK": 1, "UNAVAILABLE": 1}, "ms": [0.31,0.40], "errors": ["..."]}
//
// Thread safety: an object belongs to one thread.
#ifndef SLUICE_TESTS_ATTACKS_SOAK_CLIENT_H_
#define SLUICE_TESTS_ATTACKS_SOAK_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace sluice::soak {

struct ClientOptions {
  std::string target;     // "grpc://host:port"
  double per_second = 1;  // requests
  uint64_t seed = 1;
  std::vector<std::string> arguments;  // of the mode
};

class Report {
 public:
  ~Report() { Print(); }
  // Counts a request that took the time since `start`.
  void Count(const absl::Status& status, std::chrono::steady_clock::time_point start);
  // Adds a text that a reader of the result should see. Keeps the first few of each second.
  void AddError(std::string text);
  void PrintIfDue();
  void Print();

 private:
  std::chrono::steady_clock::time_point printed_ = std::chrono::steady_clock::now();
  std::map<std::string, int> answers_;
  std::vector<double> ms_;
  std::vector<std::string> errors_;
};

class Pace {
 public:
  explicit Pace(double per_second);
  // Waits for the time of the next request. Does not wait if the client is late, so that it catches
  // up. A delay of more than ten seconds counts as ten. False after the end of standard input.
  bool Next();

 private:
  const std::chrono::steady_clock::duration period_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

// Waits at most `ms` for the end of standard input. False if it has not ended.
bool InputEnds(int ms);

// The modes of the client. Each returns the exit status.
//
// Trains linear models and checks every loss. Argument: trainings per session.
int Train(const ClientOptions& options);
// Starts a step that never ends by itself, and waits. Argument: what it waits for.
int Hang(const ClientOptions& options);
// Runs graphs of random ops and values. Some of them are damaged.
int SendGraphs(const ClientOptions& options);
// Calls all methods with damaged messages. Arguments: files of tests/fuzz/corpus/services.
int SendCalls(const ClientOptions& options);

}  // namespace sluice::soak

#endif  // SLUICE_TESTS_ATTACKS_SOAK_CLIENT_H_
