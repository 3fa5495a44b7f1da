// The results of steps when a task crashes, hangs, is disconnected or returns. The tasks are
// processes that the tests kill, stop and disconnect at random moments. SLUICE_FAULT_ROUNDS: number
// of repetitions; SLUICE_SEED: seed of the moments.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "distributed/client/remote_session.h"
#include "distributed/testing/free_port.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/endtoend/other_host.h"
#include "tests/endtoend/program.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr int kHeartbeatMs = 1000;
// The time limit of a step after a fault: the heartbeat, with a margin for a busy machine.
constexpr auto kLimit = seconds(20);

int Number(const char* name, int otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::atoi(given) : otherwise;
}

class TaskFaults : public ::testing::Test {
 protected:
  TaskFaults()
      : random_(static_cast<unsigned>(
            Number("SLUICE_SEED", static_cast<int>(std::random_device()() >> 1)))) {}

  // Starts a parameter server and a worker. The test is a client of the worker's master.
  void StartCluster(const std::string& ps_host = "127.0.0.1",
                    const std::string& worker_host = "127.0.0.1") {
    ps_address_ = StrCat(ps_host, ":", FreePort());
    worker_address_ = StrCat(worker_host, ":", FreePort());
    StartPs();
    StartWorker();
  }
  std::unique_ptr<Program> StartTask(const std::string& job, const std::string& address,
                                     std::vector<std::string> command = {}) {
    command.insert(command.end(),
                   {"tools/sluice", "server",
                    StrCat("--cluster={\"ps\": [\"", ps_address_, "\"], \"worker\": [\"",
                           worker_address_, "\"]}"),
                    "--job=" + job, "--bind=" + address.substr(0, address.rfind(':')), "--insecure",
                    StrCat("--heartbeat_ms=", kHeartbeatMs)});
    auto program = std::make_unique<Program>(command);
    EXPECT_TRUE(program->WaitForOutput("listening at")) << program->output();
    return program;
  }
  void StartPs() { ps_ = StartTask("ps", ps_address_, ps_command_); }
  void StartWorker() { worker_ = StartTask("worker", worker_address_); }

  struct Client {
    Graph g;
    Operation init, put;
    Output sum, got;
    std::unique_ptr<Session> session;
  };
  // A variable and a queue on the parameter server; a sum on the worker.
  std::unique_ptr<Client> Connect() {
    auto client = std::make_unique<Client>();
    Graph& g = client->g;
    std::optional<Variable> v;
    {
      DeviceScope ps(g, "/job:ps/task:0");
      v.emplace(g, "v", PartialShape({}), Ones());
      Queue queue = Queue::Fifo(g, 3, {DT_FLOAT},
                                {.shapes = {PartialShape::Scalar()}, .shared_name = "faults"});
      client->put = queue.Enqueue({Constant(g, 5.0f)});
      client->got = queue.Dequeue()[0];
    }
    client->init = InitializeVariables(g);
    DeviceScope worker(g, "/job:worker/task:0");
    client->sum = v->Read() + 1.0f;
    client->got = client->got + 1.0f;
    auto session = RemoteSession::Connect(g, "grpc://" + worker_address_);
    EXPECT_TRUE(session.ok()) << session.status();
    if (session.ok()) client->session = *std::move(session);
    return client;
  }
  void ExpectWorks() {
    const std::unique_ptr<Client> client = Connect();
    ASSERT_NE(client->session, nullptr);
    ASSERT_TRUE(client->session->Run({client->init}).ok());
    const auto sum = client->session->Run({}, {client->sum}, {});
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ((*sum)[0].scalar<float>(), 2);
  }
  // Runs a step that waits on the parameter server, and returns its result after the fault.
  absl::Status StepDuring(Client& client, const std::function<void()>& fault) {
    std::thread faults([&] {
      std::this_thread::sleep_for(milliseconds(random_() % 200));
      fault();
    });
    absl::Status status = client.session->Run({}, {client.got}, {}).status();
    const auto ended = Clock::now();
    faults.join();
    EXPECT_LT(ended - fault_at_, kLimit);
    return status;
  }
  void Fault() { fault_at_ = Clock::now(); }
  static bool MeansNewSession(const absl::Status& status) {
    return absl::IsUnavailable(status) || absl::IsAborted(status);
  }
  int rounds() const { return Number("SLUICE_FAULT_ROUNDS", 1); }

  std::mt19937 random_;
  std::string ps_address_, worker_address_;
  std::vector<std::string> ps_command_;
  std::unique_ptr<Program> ps_, worker_;
  Clock::time_point fault_at_ = Clock::now();
};

TEST_F(TaskFaults, AParameterServerThatIsKilledEndsTheStepAndItsNextLifeIsAnother) {
  StartCluster();
  for (int round = 0; round < rounds(); ++round) {
    ExpectWorks();
    const std::unique_ptr<Client> client = Connect();
    const absl::Status status = StepDuring(*client, [&] {
      Fault();
      ps_->Signal(SIGKILL);
    });
    EXPECT_TRUE(MeansNewSession(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/job:ps/replica:0/task:0"));
    StartPs();
    const absl::Status later = client->session->Run({}, {client->sum}, {}).status();
    EXPECT_TRUE(MeansNewSession(later) || absl::IsFailedPrecondition(later)) << later;
  }
  ExpectWorks();
}

TEST_F(TaskFaults, AParameterServerThatHangsIsGoneAfterTheSetTimeAndWorksWhenItGoesOn) {
  StartCluster();
  for (int round = 0; round < rounds(); ++round) {
    ExpectWorks();
    const std::unique_ptr<Client> client = Connect();
    const absl::Status status = StepDuring(*client, [&] {
      Fault();
      ps_->Signal(SIGSTOP);
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/job:ps/replica:0/task:0"));
    ps_->Signal(SIGCONT);
    ExpectWorks();
  }
}

TEST_F(TaskFaults, AMasterThatIsKilledTakesNothingFromTheQueuesOfOthers) {
  StartCluster();
  for (int round = 0; round < rounds(); ++round) {
    const std::unique_ptr<Client> client = Connect();
    const absl::Status status = StepDuring(*client, [&] {
      Fault();
      worker_->Signal(SIGKILL);
    });
    EXPECT_TRUE(MeansNewSession(status)) << status;
    StartWorker();
    // The dead master's step no longer waits for an element.
    const std::unique_ptr<Client> next = Connect();
    ASSERT_TRUE(next->session->Run({next->put}).ok());
    const auto got = next->session->Run({}, {next->got}, {});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ((*got)[0].scalar<float>(), 6);
  }
}

TEST_F(TaskFaults, TopTellsOfTasksAndQueuesAndOfWhoIsNotThere) {
  StartCluster();
  const std::unique_ptr<Client> client = Connect();
  ASSERT_TRUE(client->session->Run({client->put}).ok());
  const std::string nowhere = StrCat("grpc://127.0.0.1:", FreePort());
  Program top(
      {"tools/sluice", "top", "grpc://" + ps_address_, nowhere, "--times=2", "--every_ms=50"});
  EXPECT_EQ(top.WaitForEnd(), 1);
  EXPECT_THAT(top.output(), HasSubstr("\n/job:ps/replica:0/task:0 "));
  EXPECT_THAT(top.output(), HasSubstr("\n  queue faults: 1 elements\n"));
  EXPECT_THAT(top.output(), HasSubstr("the server at " + nowhere + ": "));
}

TEST_F(TaskFaults, ALinkThatIsCutEndsTheStepAndIsUsedAgainWhenItIsMended) {
  OtherHost host;
  if (!host.is_there()) GTEST_SKIP() << host.why_not();
  ps_command_ = host.exec();
  StartCluster(host.far(), host.near());
  for (int round = 0; round < rounds(); ++round) {
    ExpectWorks();
    const std::unique_ptr<Client> client = Connect();
    const absl::Status status = StepDuring(*client, [&] {
      Fault();
      host.Cut();
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/job:ps/replica:0/task:0"));
    host.Mend();
    ExpectWorks();
  }
}

}  // namespace
}  // namespace sluice
