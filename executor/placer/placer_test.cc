#include "executor/placer/placer.h"

#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

OP(PlaceVariable, "By reference.").RefOutput("ref", DT_FLOAT).Stateful().Shape(ScalarOutput());
OP(PlaceHandle, "By handle.").Output("h", DT_RESOURCE).Stateful().Shape(ScalarOutput());
OP(PlaceUpdate, "Updates.").RefInput("ref", DT_FLOAT).Shape(NoOutputs());
OP(PlaceFetch, "Is fetched.").Role(OpRole::kFetch).Input("x", DT_FLOAT).Shape(NoOutputs());
OP(PlaceRead, "Reads.").Input("h", DT_RESOURCE).Output("y", DT_FLOAT).Shape(ScalarOutput());

Node* Make(Graph& g, std::string_view op, std::string_view name, const OutputList& inputs,
           std::string_view device = "") {
  NodeBuilder b(&g, op, At::current());
  b.Name(name).Device(device);
  for (const Output& in : inputs) b.Input(in);
  return b.Finish();
}

TEST(PlacerTest, FirstDeviceUnlessAskedOtherwise) {
  Graph g;
  Node* a = Make(g, "PlaceVariable", "a", {});
  Node* b = Make(g, "PlaceVariable", "b", {}, "/cpu:1");
  ASSERT_TRUE(Place(g, *DeviceSet::Cpus(2)).ok());
  EXPECT_EQ(a->assigned_device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(b->assigned_device(), "/job:localhost/replica:0/task:0/device:CPU:1");
}

TEST(PlacerTest, UpdatesAndReadsGoToTheirVariable) {
  Graph g;
  Node* v = Make(g, "PlaceVariable", "v", {}, "/cpu:1");
  Node* h = Make(g, "PlaceHandle", "h", {}, "/cpu:1");
  Node* update = Make(g, "PlaceUpdate", "update", {v});
  Node* read = Make(g, "PlaceRead", "read", {h});
  ASSERT_TRUE(Place(g, *DeviceSet::Cpus(2)).ok());
  EXPECT_EQ(update->assigned_device(), v->assigned_device());
  EXPECT_EQ(read->assigned_device(), h->assigned_device());
}

TEST(PlacerTest, ContradictionsNameBothNodes) {
  Graph g;
  Node* v = Make(g, "PlaceVariable", "v", {}, "/cpu:0");
  // The builder would colocate it with its variable.
  Make(g, "PlaceUpdate", "update", {v})->set_device("/cpu:1");
  EXPECT_THAT(Place(g, *DeviceSet::Cpus(2)).message(),
              HasSubstr("Cannot merge devices with incompatible ids: '/device:CPU:0' and "
                        "'/device:CPU:1'"));
  Graph g2;
  Node* a = Make(g2, "PlaceVariable", "a", {}, "/cpu:0");
  ColocateWith with(g2, a);
  Make(g2, "PlaceVariable", "b", {}, "/job:ps/cpu:1");
  EXPECT_THAT(Place(g2, *DeviceSet::Cpus(2)).message(),
              HasSubstr("Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}"));
}

// A session on a server places the whole graph, with nodes that no step runs. It could not be
// created if a device function had placed a node that takes a handle on another device than the
// variable.
TEST(PlacerTest, WhatUsesAHandleGoesToItWhateverItAsksFor) {
  Graph g;
  Node* handle = Make(g, "PlaceHandle", "handle", {}, "/cpu:1");
  Node* read = Make(g, "PlaceRead", "read", {handle});
  read->set_device("/cpu:0");
  ASSERT_TRUE(Place(g, *DeviceSet::Cpus(2)).ok());
  EXPECT_EQ(read->assigned_device(), handle->assigned_device());
}

// A call whose function runs on another device than the call requests leaves such a fetch.
TEST(PlacerTest, AFetchGoesToItsValueWhateverItRequests) {
  Graph g;
  Node* value = Make(g, "PlaceRead", "value", {Make(g, "PlaceHandle", "handle", {})}, "/cpu:1");
  Node* fetch = Make(g, "PlaceFetch", "fetch", {value}, "/cpu:0");
  ASSERT_TRUE(Place(g, *DeviceSet::Cpus(2)).ok());
  EXPECT_EQ(value->assigned_device(), "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_EQ(fetch->assigned_device(), value->assigned_device());
}

TEST(PlacerTest, UnknownDevicesListWhatThereIs) {
  Graph g;
  Make(g, "PlaceVariable", "v", {}, "/device:GPU:0");
  EXPECT_EQ(Place(g, *DeviceSet::Cpus(1)).message(),
            "Cannot assign a device for operation v: {{node v}} was explicitly assigned to "
            "/device:GPU:0 but available devices are [ "
            "/job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the device specification "
            "refers to a valid device.");
  EXPECT_TRUE(Place(g, *DeviceSet::Cpus(1), {.allow_soft_placement = true}).ok());
}

}  // namespace
}  // namespace sluice
