#include "training/estimator/run_config.h"

#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr char kCluster[] =
    R"("cluster": {"chief": ["a:1"], "worker": ["b:1", "b:2"], "ps": ["c:1", "c:2"]})";

absl::StatusOr<TaskConfig> Task(const std::string& type, int index) {
  return TaskConfig::Parse(
      StrCat("{", kCluster, R"(, "task": {"type": ")", type, R"(", "index": )", index, "}}"));
}

TEST(TaskConfigTest, WithoutAClusterThisIsTheChief) {
  for (const char* config : {"", "{}", R"({"task": {"type": "worker", "index": 0}})"}) {
    const auto task = TaskConfig::Parse(config);
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_TRUE(task->is_chief);
    EXPECT_EQ(task->master, "");
    EXPECT_EQ(task->num_worker_replicas, 1);
    EXPECT_EQ(task->num_ps_replicas, 0);
  }
}

TEST(TaskConfigTest, EachTaskOfACluster) {
  const auto chief = Task("chief", 0), worker = Task("worker", 1), ps = Task("ps", 1);
  ASSERT_TRUE(chief.ok()) << chief.status();
  ASSERT_TRUE(worker.ok()) << worker.status();
  ASSERT_TRUE(ps.ok()) << ps.status();
  EXPECT_TRUE(chief->is_chief);
  EXPECT_EQ(chief->master, "grpc://a:1");
  EXPECT_EQ(chief->global_id_in_cluster, 0);
  EXPECT_FALSE(worker->is_chief);
  EXPECT_EQ(worker->master, "grpc://b:2");
  EXPECT_EQ(worker->global_id_in_cluster, 2);
  EXPECT_EQ(worker->num_worker_replicas, 3);
  EXPECT_EQ(worker->num_ps_replicas, 2);
  EXPECT_EQ(ps->global_id_in_cluster, 4);
}

TEST(TaskConfigTest, AnEvaluatorStandsBesideTheCluster) {
  const auto task = Task("evaluator", 0);
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_FALSE(task->is_chief);
  EXPECT_EQ(task->master, "");
  EXPECT_EQ(task->num_worker_replicas, 0);
}

TEST(TaskConfigTest, AddressesMayBeAMapOfIndices) {
  const auto task = TaskConfig::Parse(
      R"({"cluster": {"chief": {"0": "a:1"}, "ps": {"1": "c:2", "0": "c:1"}},
          "task": {"type": "ps", "index": "1"}})");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->master, "grpc://c:2");
}

TEST(TaskConfigTest, AClusterOfOneNeedsNoServer) {
  const auto task = TaskConfig::Parse(
      R"({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}})");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->master, "");
}

TEST(TaskConfigTest, SaysWhatMakesNoSense) {
  const auto error = [](const std::string& config) {
    return std::string(TaskConfig::Parse(config).status().message());
  };
  EXPECT_THAT(error("{nonsense"), HasSubstr("TF_CONFIG: no JSON object"));
  EXPECT_EQ(error(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})"),
            "If \"cluster\" is set in TF_CONFIG, it must have one \"chief\" node.");
  EXPECT_EQ(
      error(R"({"cluster": {"chief": ["a:1", "a:2"]}, "task": {"type": "chief", "index": 0}})"),
      "The \"cluster\" in TF_CONFIG must have only one \"chief\" node.");
  EXPECT_EQ(error(R"({"cluster": {"chief": ["a:1"]}})"),
            "If \"cluster\" is set in TF_CONFIG, task type must be set in TF_CONFIG.");
  EXPECT_EQ(error(R"({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}})"),
            "If \"cluster\" is set in TF_CONFIG, task index must be set in TF_CONFIG.");
  EXPECT_EQ(error(R"({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": -1}})"),
            "Task index must be non-negative number.");
  EXPECT_THAT(std::string(Task("worker", 2).status().message()),
              HasSubstr("2 is not a valid task_id for task_type worker in the cluster_spec"));
  EXPECT_THAT(std::string(Task("helper", 0).status().message()),
              HasSubstr("helper is not a valid task_type in the cluster_spec"));
  EXPECT_EQ(error(R"({"cluster": {"chief": ["a:1"], "ps": {"0": "b:1", "2": "b:3"}},
                      "task": {"type": "ps", "index": 0}})"),
            "TF_CONFIG: expected the indices 0 to 1 in job 'ps', got none for task 1");
  EXPECT_THAT(error(R"({"task": {"type": "ps", "index": 0}})"),
              HasSubstr("If \"cluster\" is not set in TF_CONFIG"));
}

TEST(RunConfigTest, TakesTheTaskFromTheEnvironment) {
  setenv("TF_CONFIG",
         R"({"cluster": {"chief": ["a:1"], "ps": ["b:1"]}, "task": {"type": "chief", "index": 0}})",
         1);
  const auto config = RunConfig::FromEnvironment();
  unsetenv("TF_CONFIG");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->task.master, "grpc://a:1");
  EXPECT_EQ(config->save_summary_steps, 100);
  EXPECT_EQ(config->keep_checkpoint_max, 5);
}

}  // namespace
}  // namespace sluice
