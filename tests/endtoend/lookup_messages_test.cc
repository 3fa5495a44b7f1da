// The tensors that tasks send each other in a training step with embedding tables on parameter
// servers. Each is one call of RecvTensor.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "executor/partition/partition.h"
#include "executor/passes/prune.h"
#include "executor/placer/placer.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int kFields = 26, kServers = 2;
constexpr char kWorker[] = "/job:worker/replica:0/task:0";

std::string Server(int task) { return StrCat("/job:ps/replica:0/task:", task); }

// Counts the nodes of type `op` in each task's part of a training step. The model is linear, over
// 26 features.
absl::StatusOr<std::map<std::string, int>> CountInParts(bool at_once, const std::string& op) {
  Graph g;
  std::vector<FieldLookup> fields;
  for (int f = 0; f < kFields; ++f) {
    DeviceScope place(g, Server(f % kServers));
    fields.push_back({.table = EmbeddingTable(g, "table", 4), .ids = Output()});
  }
  DeviceScope place(g, kWorker);
  const Output ids = Placeholder(g, DT_INT64, {8, kFields}, "ids");
  OutputList rows;
  const OutputList columns = Unstack(ids, 1);
  for (size_t f = 0; f < fields.size(); ++f) {
    fields[f].ids = columns[f];
    if (!at_once) rows.push_back(EmbeddingLookup(fields[f].table, columns[f]));
  }
  const Output x = at_once ? LookupAll(fields) : Concat(rows, 1);
  const Output loss = ReduceSum(Square(x));
  const Operation train = Adagrad({.learning_rate = 0.1f}).Minimize(loss);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(auto pruned, Prune({ids}, {loss}, {train}));
  std::vector<DeviceInfo> devices;
  for (const std::string& task : {std::string(kWorker), Server(0), Server(1)}) {
    for (const DeviceInfo& d : DeviceSet::Cpus(1, task)->Describe()) devices.push_back(d);
  }
  SLUICE_RETURN_IF_ERROR(Place(*pruned, devices));
  SLUICE_ASSIGN_OR_RETURN(const auto parts,
                          PartitionByTask(*pruned, [](const std::string&) { return uint64_t{7}; }));
  std::map<std::string, int> counts;
  for (const auto& [task, part] : parts) {
    for (const Node* node : part.graph->nodes()) counts[task] += node->op() == op ? 1 : 0;
  }
  return counts;
}

TEST(LookupMessages, AServerGetsKeysAndGradientsAndSendsRowsOnce) {
  const auto received = CountInParts(true, "_Recv");
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(received->at(Server(0)), 2);
  EXPECT_EQ(received->at(Server(1)), 2);
  // From each server, the worker receives rows and the end of the updates.
  EXPECT_EQ(received->at(kWorker), 2 * kServers);
}

TEST(LookupMessages, SingleLookupsSendTensorsPerTable) {
  const auto received = CountInParts(false, "_Recv");
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(received->at(kWorker), kFields + kServers);
  // For each of its tables, a server receives the keys, and the keys and rows of the gradient.
  EXPECT_EQ(received->at(Server(0)), 3 * kFields / kServers);
  EXPECT_EQ(received->at(Server(1)), 3 * kFields / kServers);
}

}  // namespace
}  // namespace sluice
