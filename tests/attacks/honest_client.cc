// An honest client of a server that is under attack: runs steps, and now and then opens a new
// connection, until its standard input ends.
//
//   honest_client TARGET [TOKEN]
//
// Prints "ready" after the first answer. At the end prints the number of rounds and the time of the
// slowest in milliseconds. Exits with 1 after a wrong answer or an error.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "sluice.h"
#include "sluice_cluster.h"

namespace sluice {
namespace {

constexpr int kBetweenRoundsMs = 10;
constexpr int kRoundsPerConnection = 20;
constexpr int64_t kAnswerTimeoutMs = 20'000;

// True at the end of standard input. Waits a little for it.
bool InputHasEnded() {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, kBetweenRoundsMs) != 0;
}

class HonestClient {
 public:
  HonestClient(std::string target, std::string token)
      : target_(std::move(target)), token_(std::move(token)) {
    x_ = Placeholder(g_, DT_FLOAT, {2, 2}, "x");
    y_ = MatMul(x_, x_) + x_;
  }

  absl::StatusOr<std::unique_ptr<Session>> Connect() {
    RemoteSessionOptions options;
    options.security.token = token_;
    options.connect_timeout_ms = kAnswerTimeoutMs;
    options.session.operation_timeout_ms = kAnswerTimeoutMs;
    return RemoteSession::Connect(g_, target_, options);
  }

  absl::Status Round() {
    if (rounds_ % kRoundsPerConnection == 0) {
      SLUICE_ASSIGN_OR_RETURN(session_, Connect());
    }
    const float value = static_cast<float>(++rounds_ % 100);
    Tensor x(DT_FLOAT, {2, 2});
    std::fill_n(x.data<float>(), 4, value);
    SLUICE_ASSIGN_OR_RETURN(const Tensors got, session_->Run({{x_, x}}, {y_}));
    const float expected = 2 * value * value + value;
    if (got[0].data<float>()[3] == expected) return absl::OkStatus();
    return absl::DataLossError(
        StrCat("expected ", expected, ", got ", got[0].data<float>()[3], " in round ", rounds_));
  }

  // Returns when the input has ended or a round fails.
  absl::Status RunRounds() {
    do {
      const auto start = std::chrono::steady_clock::now();
      SLUICE_RETURN_IF_ERROR(Round());
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      // The first round includes the start of the server.
      if (rounds_ > 1) slowest_ms_ = std::max(slowest_ms_, took.count());
      if (rounds_ == 1) std::printf("ready\n"), std::fflush(stdout);
    } while (!InputHasEnded());
    std::printf("%d %.0f\n", rounds_, slowest_ms_);
    return absl::OkStatus();
  }

 private:
  const std::string target_;
  const std::string token_;
  Graph g_;
  Output x_;
  Output y_;
  std::unique_ptr<Session> session_;
  int rounds_ = 0;
  double slowest_ms_ = 0;
};

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("usage: honest_client TARGET [TOKEN]\n");
    return 2;
  }
  HonestClient client(argv[1], argc > 2 ? argv[2] : "");
  const absl::Status status = client.RunRounds();
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::Main(argc, argv); }
