// Collectives between tasks, which are servers in this process. Each task has its own session, or
// one session runs all of them.

#include <functional>
#include <thread>

#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "executor/testing/await_report.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string Task(int i) { return StrCat("/job:worker/replica:0/task:", i); }

class Workers {
 public:
  explicit Workers(int count, int cpus = 1) : cpus_(cpus), servers_(count) {
    for (int i = 0; i < count; ++i) {
      spec_.SetAddress({"worker", i}, StrCat("127.0.0.1:", FreePort()));
    }
    for (int i = 0; i < count; ++i) Start(i);
  }
  void Start(int i) {
    auto server = Server::Start({.cluster = {spec_, {"worker", i}}, .cpus = cpus_});
    EXPECT_TRUE(server.ok()) << server.status();
    servers_[i] = server.ok() ? *std::move(server) : nullptr;
  }
  Server& server(int i) { return *servers_[i]; }
  void Kill(int i) { servers_[i] = nullptr; }

 private:
  const int cpus_;
  ClusterSpec spec_;
  std::vector<std::unique_ptr<Server>> servers_;
};

// A worker's own graph and session, as in between-graph replication.
struct Replica {
  Graph g;
  std::unique_ptr<Session> session;
  OutputList out;

  absl::Status Open(Server& server, int i) {
    SLUICE_RETURN_IF_ERROR(g.status());
    auto made = server.NewSession(g, {}, {Task(i)});
    SLUICE_RETURN_IF_ERROR(made.status());
    session = *std::move(made);
    return absl::OkStatus();
  }
  absl::StatusOr<Tensors> Run(const RunOptions& options = {}) {
    return session->Run({}, out, {}, options);
  }
};

using Build = std::function<OutputList(Graph&, int replica)>;

std::vector<std::unique_ptr<Replica>> Replicas(Workers& workers, int count, const Build& build) {
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int i = 0; i < count; ++i) {
    replicas.push_back(std::make_unique<Replica>());
    DeviceScope on(replicas[i]->g, StrCat(Task(i), "/device:CPU:0"));
    replicas[i]->out = build(replicas[i]->g, i);
    const absl::Status opened = replicas[i]->Open(workers.server(i), i);
    EXPECT_TRUE(opened.ok()) << opened;
  }
  return replicas;
}

std::vector<absl::StatusOr<Tensors>> RunAll(std::vector<std::unique_ptr<Replica>>& replicas) {
  std::vector<absl::StatusOr<Tensors>> results(replicas.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < replicas.size(); ++i) {
    threads.emplace_back([&, i] { results[i] = replicas[i]->Run(); });
  }
  for (std::thread& t : threads) t.join();
  return results;
}

// Element e of replica i.
float ValueOf(int i, int64_t e) { return static_cast<float>((e * 7 + i * 3) % 11 - 5); }

Tensor ValuesOf(int i, int64_t elements) {
  Tensor t(DT_FLOAT, {elements});
  for (int64_t e = 0; e < elements; ++e) t.data<float>()[e] = ValueOf(i, e);
  return t;
}

class Reduces : public ::testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(Reduces, AllGetTheSum) {
  const auto [count, hint] = GetParam();
  const int64_t sizes[] = {0, 1, 5, 70'000};
  Workers workers(count);
  auto replicas = Replicas(workers, count, [&, hint = hint](Graph& g, int i) {
    OutputList sums;
    for (const int64_t size : sizes) {
      sums.push_back(CollectiveReduce(Constant(g, ValuesOf(i, size)), std::get<0>(GetParam()), 1,
                                      static_cast<int64_t>(sums.size()), "Add", "Id", {0},
                                      {.communication_hint = hint}));
    }
    return sums;
  });
  for (int step = 0; step < 3; ++step) {
    for (const absl::StatusOr<Tensors>& sums : RunAll(replicas)) {
      ASSERT_TRUE(sums.ok()) << sums.status();
      for (size_t s = 0; s < std::size(sizes); ++s) {
        ASSERT_EQ((*sums)[s].num_elements(), sizes[s]);
        for (int64_t e = 0; e < sizes[s]; ++e) {
          float expected = 0;
          for (int i = 0; i < count; ++i) expected += ValueOf(i, e);
          ASSERT_EQ((*sums)[s].data<float>()[e], expected) << e;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Reduces,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::Values("ring", "tree", "auto")));

TEST(Collectives, GatherAndBroadcastFromAnyTask) {
  Workers workers(3);
  auto replicas = Replicas(workers, 3, [](Graph& g, int i) -> OutputList {
    const Output mine = Constant(g, ValuesOf(i, 2));
    OutputList out = {CollectiveGather(mine, 3, 1, 1, {6})};
    for (int root = 0; root < 3; ++root) {
      out.push_back(root == i ? CollectiveBcastSend(mine, 3, 1, 10 + root, {2})
                              : CollectiveBcastRecv(g, DT_FLOAT, 3, 1, 10 + root, {2}));
    }
    return out;
  });
  for (const absl::StatusOr<Tensors>& out : RunAll(replicas)) {
    ASSERT_TRUE(out.ok()) << out.status();
    for (int i = 0; i < 3; ++i) {
      for (int e = 0; e < 2; ++e) {
        EXPECT_EQ((*out)[0].data<float>()[2 * i + e], ValueOf(i, e));
        EXPECT_EQ((*out)[1 + i].data<float>()[e], ValueOf(i, e));
      }
    }
  }
}

TEST(Collectives, MembersOfOneSessionMeetStepByStep) {
  Workers workers(2, /*cpus=*/2);
  Graph g;
  OutputList means;
  for (int i = 0; i < 4; ++i) {
    DeviceScope on(g, StrCat(Task(i / 2), "/device:CPU:", i % 2));
    means.push_back(
        CollectiveReduce(Constant(g, Tensor::Scalar(1.0f + i)), 4, 1, 1, "Add", "Div", {0}));
  }
  auto session = workers.server(1).NewSession(g);
  ASSERT_TRUE(session.ok()) << session.status();
  for (int step = 0; step < 5; ++step) {
    const auto got = (*session)->Run({}, means, {});
    ASSERT_TRUE(got.ok()) << got.status();
    for (const Tensor& t : *got) EXPECT_EQ(t.scalar<float>(), 2.5f);
    // A step without one of the members is cancelled, and the next one is not affected.
    EXPECT_FALSE((*session)->Run({}, {means[0], means[2]}, {}, {.timeout_ms = 20}).ok());
  }
}

TEST(Collectives, AMismatchEndsTheCallsOfAllTasks) {
  Workers workers(2);
  auto replicas = Replicas(workers, 2, [](Graph& g, int i) -> OutputList {
    return {CollectiveReduce(Constant(g, ValuesOf(i, 2 + i)), 2, 1, 1, "Add", "Id", {0})};
  });
  for (const absl::StatusOr<Tensors>& out : RunAll(replicas)) {
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << out.status();
    EXPECT_THAT(out.status().message(),
                HasSubstr("Shape mismatch in the collective instance 1. Op at device"));
  }
}

TEST(Collectives, WhoIsCancelledEndsTheOthersAndAllMeetAgain) {
  Workers workers(2);
  auto replicas = Replicas(workers, 2, [](Graph& g, int i) -> OutputList {
    return {CollectiveReduce(Constant(g, ValuesOf(i, 3)), 2, 1, 1, "Add", "Id", {0})};
  });
  for (const auto& out : RunAll(replicas)) ASSERT_TRUE(out.ok()) << out.status();
  CancellationManager cancellation;
  std::thread canceller([&] {
    AwaitReport(*replicas[0]->session, {"waits for " + Task(1)});
    cancellation.StartCancel();
  });
  EXPECT_EQ(replicas[0]->Run({.cancellation = &cancellation}).status().code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  const absl::Status told = replicas[1]->Run().status();
  EXPECT_EQ(told.code(), absl::StatusCode::kAborted) << told;
  EXPECT_THAT(told.message(), HasSubstr(Task(0) + "/device:CPU:0 (CollectiveReduce node "));
  for (const auto& out : RunAll(replicas)) EXPECT_TRUE(out.ok()) << out.status();
}

TEST(Collectives, AMemberThatDiesEndsTheOthersAndComesBack) {
  Workers workers(3);
  const Build build = [](Graph& g, int i) -> OutputList {
    return {CollectiveReduce(Constant(g, ValuesOf(i, 3)), 3, 1, 1, "Add", "Id", {0})};
  };
  auto replicas = Replicas(workers, 3, build);
  for (const auto& out : RunAll(replicas)) ASSERT_TRUE(out.ok()) << out.status();
  std::vector<absl::Status> ends(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { ends[i] = replicas[i]->Run().status(); });
  }
  AwaitReport(*replicas[0]->session, {"waits for " + Task(2)});
  replicas[2] = nullptr;
  workers.Kill(2);
  for (std::thread& t : threads) t.join();
  for (const absl::Status& end : ends) {
    EXPECT_THAT(end.code(), AnyOf(absl::StatusCode::kUnavailable, absl::StatusCode::kCancelled,
                                  absl::StatusCode::kAborted))
        << end;
    EXPECT_THAT(end.message(), HasSubstr(Task(2)));
  }
  workers.Start(2);
  auto again = Replicas(workers, 3, build);
  for (const auto& out : RunAll(again)) EXPECT_TRUE(out.ok()) << out.status();
}

}  // namespace
}  // namespace sluice
