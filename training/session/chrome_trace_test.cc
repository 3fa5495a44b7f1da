#include "training/session/chrome_trace.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using Json = google::protobuf::Struct;

TEST(ChromeTraceTest, IsJsonWithALineAThread) {
  StepStats stats;
  DeviceStepStats& device = stats.dev_stats.emplace_back();
  device.device = "/device:CPU:0";
  NodeExecStats node;
  node.node_name = "dense/MatMul";
  node.timeline_label = "dense/MatMul = MatMul(x, \"w\")";
  node.all_start_nanos = 5'000'250;
  node.op_start_rel_nanos = 750;
  node.op_end_rel_nanos = 2'255;
  node.thread_id = 777;
  device.node_stats.push_back(node);
  node.node_name = "odd\"name\n";
  node.timeline_label = "";
  node.thread_id = 778;
  device.node_stats.push_back(node);

  Json trace;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ChromeTrace(stats), &trace).ok());
  const auto& events = trace.fields().at("traceEvents").list_value();
  ASSERT_EQ(events.values_size(), 3);
  const auto field = [&](int event, const std::string& name) {
    return events.values(event).struct_value().fields().at(name);
  };
  EXPECT_EQ(field(0, "args").struct_value().fields().at("name").string_value(), "/device:CPU:0");
  EXPECT_EQ(field(1, "name").string_value(), "MatMul");
  EXPECT_EQ(field(1, "ph").string_value(), "X");
  EXPECT_DOUBLE_EQ(field(1, "ts").number_value(), 5001.0);  // microseconds
  EXPECT_DOUBLE_EQ(field(1, "dur").number_value(), 1.505);
  EXPECT_EQ(field(1, "tid").number_value(), 0);
  EXPECT_EQ(field(2, "tid").number_value(), 1);
  EXPECT_EQ(field(2, "name").string_value(), "odd\"name\n");
}

TEST(ChromeTraceTest, NothingIsAnEmptyTrace) {
  Json trace;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ChromeTrace({}), &trace).ok());
  EXPECT_EQ(trace.fields().at("traceEvents").list_value().values_size(), 0);
}

}  // namespace
}  // namespace sluice
