// An Estimator on a cluster on loopback: a parameter server, a chief and a worker that train, and
// an evaluator, each with its TF_CONFIG.
#include <filesystem>
#include <thread>

#include "absl/strings/str_replace.h"
#include "distributed/client/remote_session.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/state/variable.h"
#include "training/estimator/estimator.h"
#include "training/optimizer/gradient_descent.h"

namespace sluice {
namespace {

constexpr int64_t kSteps = 60;

// Learns y = 2 x + 1.
absl::StatusOr<EstimatorSpec> Line(const ModelFnInputs& in) {
  Graph& g = in.graph;
  const Variable w(g, "w", 0.0f), b(g, "b", 0.0f);
  const Output y = in.features.at("x") * w + b;
  EstimatorSpec spec = {.predictions = {{"y", y}}};
  spec.loss = ReduceMean(Square(y - in.labels.at("y")));
  if (in.mode != ModeKeys::kTrain) return spec;
  const Variable step = GlobalStep(g);
  for (const Variable& v : {w, b, step}) EXPECT_EQ(v.device(), "/job:ps/task:0") << v.name();
  spec.train_op =
      GradientDescent({.learning_rate = 0.1f}).Minimize(spec.loss, {.global_step = &step});
  return spec;
}

absl::StatusOr<InputBatch> Points(Graph& g) {
  InputBatch batch;
  batch.features["x"] = Constant(g, {0.0f, 1.0f, 2.0f, -1.0f});
  batch.labels["y"] = Constant(g, {1.0f, 3.0f, 5.0f, -1.0f});
  return batch;
}

class Tasks {
 public:
  explicit Tasks(std::string model_dir) : model_dir_(std::move(model_dir)) {
    for (const char* job : {"ps", "chief", "worker"}) {
      addresses_.SetAddress({job, 0}, StrCat("127.0.0.1:", FreePort()));
    }
    for (const TaskName& task : addresses_.tasks()) {
      absl::StatusOr<std::unique_ptr<Server>> server =
          Server::Start({.cluster = {addresses_, task}});
      EXPECT_TRUE(server.ok()) << server.status();
      if (server.ok()) servers_.push_back(*std::move(server));
    }
  }

  absl::StatusOr<std::optional<EvaluationResult>> TrainAndEvaluateAs(const std::string& job) const {
    const std::string tf_config = StrCat(R"({"cluster": )", addresses_.ToJson(),
                                         R"(, "task": {"type": ")", job, R"(", "index": 0}})");
    RunConfig config;
    config.model_dir = model_dir_;
    SLUICE_ASSIGN_OR_RETURN(config.task, TaskConfig::Parse(tf_config));
    if (job != kEvaluatorTask) {
      SLUICE_ASSIGN_OR_RETURN(const Cluster cluster, Cluster::FromTfConfig(tf_config));
      config.device_fn = [cluster] { return ReplicaDevices(cluster); };
    }
    Estimator estimator(Line, config);
    return TrainAndEvaluate(estimator, {.input_fn = Points, .max_steps = kSteps},
                            {.input_fn = Points, .steps = 1, .throttle_secs = 0.05});
  }

 private:
  const std::string model_dir_;
  ClusterSpec addresses_;
  std::vector<std::unique_ptr<Server>> servers_;
};

TEST(EstimatorOnACluster, EachTaskDoesItsPart) {
  const std::string folder =
      (std::filesystem::path(::testing::TempDir()) / "estimator_on_a_cluster").string();
  std::filesystem::remove_all(folder);
  const Tasks tasks(folder);
  absl::StatusOr<std::optional<EvaluationResult>> trained[2], evaluated;
  std::thread chief([&] { trained[0] = tasks.TrainAndEvaluateAs("chief"); });
  std::thread worker([&] { trained[1] = tasks.TrainAndEvaluateAs("worker"); });
  std::thread evaluator([&] { evaluated = tasks.TrainAndEvaluateAs("evaluator"); });
  for (std::thread* thread : {&chief, &worker}) thread->join();
  for (const auto& result : trained) {
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->has_value());
  }
  evaluator.join();
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_GE((*evaluated)->global_step, kSteps);
  EXPECT_LT(*(*evaluated)->Value("loss"), 1e-2);
}

}  // namespace
}  // namespace sluice
