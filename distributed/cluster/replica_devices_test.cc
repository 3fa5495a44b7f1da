#include "distributed/cluster/replica_devices.h"

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "gtest/gtest.h"

namespace sluice {

// The only op that StandardPsOps finds in this test, which does not link ops/.
OP(VarHandleOp, "A handle of a variable.")
    .Output("resource", DT_RESOURCE)
    .Attr("shape", ShapeAttr())
    .Attr("dtype", TypeAttr())
    .SharedByReplicas()
    .Shape(UnknownOutputs());

namespace {

NodeSpec Variable(const TensorShape& shape, DataType dtype = DT_FLOAT, std::string device = "") {
  NodeSpec node;
  node.op = "VarHandleOp";
  node.device = std::move(device);
  node.attrs["shape"] = PartialShape(shape);
  node.attrs["dtype"] = dtype;
  return node;
}
NodeSpec Other(std::string device = "") {
  NodeSpec node;
  node.op = "MatMul";
  node.device = std::move(device);
  return node;
}

TEST(ReplicaDevices, VariablesGoRoundTheServersAndTheRestToTheWorker) {
  const DeviceFunction device = ReplicaDevices({.ps_tasks = 2});
  const DeviceFunction copy = device;  // scopes make copies
  EXPECT_EQ(device(Variable({2})), "/job:ps/task:0");
  EXPECT_EQ(copy(Variable({2})), "/job:ps/task:1");
  EXPECT_EQ(device(Variable({2})), "/job:ps/task:0");
  EXPECT_EQ(device(Other()), "/job:worker");
}

TEST(ReplicaDevices, WhatANodeAsksForWinsFieldByField) {
  const DeviceFunction device =
      ReplicaDevices({.ps_tasks = 2, .worker_device = "/job:worker/task:3"});
  EXPECT_EQ(device(Variable({2}, DT_FLOAT, "/device:CPU:1")), "/job:ps/task:0/device:CPU:1");
  EXPECT_EQ(device(Variable({2}, DT_FLOAT, "/job:ps/task:0")), "/job:ps/task:0");
  // A variable on another job does not advance the strategy.
  EXPECT_EQ(device(Variable({2}, DT_FLOAT, "/job:worker/task:0")), "/job:worker/task:0");
  EXPECT_EQ(device(Variable({2})), "/job:ps/task:0");
  EXPECT_EQ(device(Other("/device:CPU:0")), "/job:worker/task:3/device:CPU:0");
}

TEST(ReplicaDevices, WithoutMergingADeviceIsTakenAsItIs) {
  const DeviceFunction device = ReplicaDevices({.ps_tasks = 2, .merge_devices = false});
  EXPECT_EQ(device(Variable({2}, DT_FLOAT, "/device:CPU:1")), "/device:CPU:1");
  EXPECT_EQ(device(Other("/device:CPU:0")), "/device:CPU:0");
  EXPECT_EQ(device(Variable({2})), "/job:ps/task:0");
}

TEST(ReplicaDevices, AClusterPlacesBigVariablesApart) {
  Cluster cluster;
  for (int i = 0; i < 2; ++i) cluster.spec.SetAddress({"ps", i}, "a:1");
  cluster.task = {"worker", 1};
  cluster.spec.SetAddress(cluster.task, "b:1");
  auto loads = std::make_shared<PsLoads>();
  const DeviceFunction device = ReplicaDevices(cluster, loads);
  EXPECT_EQ(device(Variable({784, 10})), "/job:ps/task:0");
  EXPECT_EQ(device(Variable({10})), "/job:ps/task:1");
  EXPECT_EQ(device(Variable({}, DT_INT64)), "/job:ps/task:1");
  EXPECT_EQ(device(Variable({100, 10})), "/job:ps/task:1");
  EXPECT_EQ(device(Other()), "/job:worker/replica:0/task:1");
  EXPECT_EQ(loads->of_task, (std::vector<int64_t>{31360, 4048}));
  EXPECT_EQ(loads->ToString(),
            "ps:0 31360 bytes, ps:1 4048 bytes; the fullest has 1.77 times the mean");
}

TEST(ReplicaDevices, AClusterSpreadsThePartsOfATable) {
  Cluster cluster;
  for (int i = 0; i < 2; ++i) cluster.spec.SetAddress({"ps", i}, "a:1");
  cluster.task = {"worker", 0};
  cluster.spec.SetAddress(cluster.task, "b:1");
  const DeviceFunction device = ReplicaDevices(cluster);
  EXPECT_EQ(device(Variable({784, 10})), "/job:ps/task:0");
  NodeSpec part = Variable({});
  part.attrs["shape"] = PartialShape({-1, 16});
  EXPECT_EQ(BytesOfVariable(part), int64_t{64} << 20);
  EXPECT_EQ(device(part), "/job:ps/task:1");
  EXPECT_EQ(device(part), "/job:ps/task:0");
  EXPECT_EQ(device(part), "/job:ps/task:1");
  EXPECT_EQ(device(part), "/job:ps/task:0");
}

TEST(ReplicaDevices, WithoutServersEverythingIsTheWorkers) {
  Cluster cluster;
  cluster.task = {"worker", 0};
  cluster.spec.SetAddress(cluster.task, "b:1");
  EXPECT_EQ(ReplicaDevices(cluster)(Variable({2})), "/job:worker/replica:0/task:0");
}

}  // namespace
}  // namespace sluice
