#include <map>

#include "distributed/cluster/address_book.h"
#include "distributed/cluster/cluster_spec.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cluster::Environment Of(std::map<std::string, std::string> variables) {
  auto kept = std::make_shared<std::map<std::string, std::string>>(std::move(variables));
  return [kept](const char* name) -> const char* {
    auto it = kept->find(name);
    return it == kept->end() ? nullptr : it->second.c_str();
  };
}

TEST(ClusterSpec, JobsAreListsOrMapsOfAddresses) {
  auto spec = ClusterSpec::FromJson(R"({"ps": ["a:1"], "worker": {"0": "b:2", "3": "c:3"}})");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->NumTasks("worker"), 2);
  EXPECT_EQ(*spec->Address({"worker", 3}), "c:3");
  EXPECT_EQ(spec->Address({"worker", 1}).status().message(),
            "the cluster has no task /job:worker/replica:0/task:1");
  EXPECT_EQ(spec->ToJson(), R"({"ps":{"0":"a:1"},"worker":{"0":"b:2","3":"c:3"}})");
  EXPECT_EQ(ClusterSpec::FromProto(spec->ToProto())->ToJson(), spec->ToJson());
}

TEST(ClusterSpec, WhatIsNoneSaysWhy) {
  const auto message = [](std::string_view json) {
    return std::string(ClusterSpec::FromJson(json).status().message());
  };
  EXPECT_THAT(message("[1]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(message(R"({"ps": "a:1"})"), HasSubstr("expected a list or a map of addresses"));
  EXPECT_THAT(message(R"({"ps": ["a"]})"), HasSubstr("expected \"host:port\", got 'a'"));
  EXPECT_THAT(message(R"({"ps": {"x": "a:1"}})"), HasSubstr("expected a number of a task"));
}

TEST(Cluster, OfTfConfig) {
  auto cluster = Cluster::FromTfConfig(
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:2", "c:3"]},
          "task": {"type": "worker", "index": 1}})");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->task.ToString(), "/job:worker/replica:0/task:1");
  EXPECT_FALSE(cluster->is_chief());
  EXPECT_THAT(Cluster::FromTfConfig(R"({"cluster": {"worker": ["b:2"]},
                                        "task": {"type": "worker", "index": "7"}})")
                  .status()
                  .message(),
              HasSubstr("the cluster has no task /job:worker/replica:0/task:7"));
  // 0.5 became task 0, and the conversion of 1e300 to an int is undefined.
  for (const char* index : {"0.5", "1e300", "-1", "\"x\""}) {
    const std::string config = StrCat(
        R"({"cluster": {"worker": ["b:2"]}, "task": {"type": "worker", "index": )", index, "}}");
    EXPECT_THAT(Cluster::FromTfConfig(config).status().message(), HasSubstr("is no number"));
  }
}

TEST(Cluster, OfSlurm) {
  auto cluster = Cluster::FromSlurm({.num_ps = 1, .first_port = 9000},
                                    Of({{"SLURM_PROCID", "2"},
                                        {"SLURM_NTASKS", "5"},
                                        {"SLURM_STEP_NODELIST", "n[08-09,12]"},
                                        {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}}));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->spec.ToJson(),
            R"({"ps":{"0":"n08:9000"},)"
            R"("worker":{"0":"n08:9001","1":"n09:9000","2":"n09:9001","3":"n12:9000"}})");
  EXPECT_EQ(cluster->task, (TaskName{"worker", 1}));
  auto even = Cluster::FromSlurm(
      {}, Of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "3"}, {"SLURM_JOB_NODELIST", "a,b"}}));
  EXPECT_EQ(*even->spec.Address({"worker", 0}), "a:7078");
  EXPECT_EQ(*even->spec.Address({"worker", 1}), "b:7077");
}

TEST(Cluster, OfMpi) {
  auto cluster = Cluster::FromMpi(
      {.num_ps = 2}, Of({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->task, (TaskName{"worker", 1}));
  EXPECT_EQ(*cluster->spec.Address({"ps", 1}), "127.0.0.1:7078");
  EXPECT_THAT(Cluster::FromMpi({.num_ps = 4},
                               Of({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}))
                  .status()
                  .message(),
              HasSubstr("expected fewer parameter servers than the 4 processes"));
}

TEST(Cluster, OfWhateverTheEnvironmentHas) {
  EXPECT_EQ(Cluster::FromEnvironment({}, Of({})).status().code(), absl::StatusCode::kNotFound);
  auto cluster = Cluster::FromEnvironment(
      {}, Of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
  EXPECT_TRUE(cluster->is_chief());
}

TEST(HostList, IsExpanded) {
  EXPECT_THAT(*ExpandHostList("a,n[1-3,7]x,b[09-10]"),
              ElementsAre("a", "n1x", "n2x", "n3x", "n7x", "b09", "b10"));
  for (const char* bad : {"n[1-", "n[3-1]", "n]", "a,,b", "n[x]"}) {
    EXPECT_FALSE(ExpandHostList(bad).ok()) << bad;
  }
}

TEST(AddressBook, HasTheLatestAddressOfEachTask) {
  ClusterSpec spec;
  spec.SetAddress({"ps", 0}, "a:1");
  AddressBook book(spec);
  EXPECT_EQ(*book.Find({"ps", 0}), "a:1");
  book.Set({"ps", 0}, "b:2");
  book.Set({"worker", 3}, "c:3");
  EXPECT_EQ(*book.FindByName("/job:ps/replica:0/task:0/device:CPU:0"), "b:2");
  EXPECT_THAT(book.tasks(), ElementsAre(TaskName{"ps", 0}, TaskName{"worker", 3}));
  EXPECT_TRUE(absl::IsNotFound(book.Find({"ps", 1}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(book.FindByName("/job:ps").status()));
}

}  // namespace
}  // namespace sluice
