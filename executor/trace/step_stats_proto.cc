#include "executor/trace/step_stats_proto.h"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

void NodeToProto(const NodeExecStats& node, pb::NodeExecStats* proto) {
  proto->set_node_name(node.node_name);
  proto->set_timeline_label(node.timeline_label);
  proto->set_thread_id(node.thread_id);
  proto->set_all_start_nanos(node.all_start_nanos);
  proto->set_op_start_rel_nanos(node.op_start_rel_nanos);
  proto->set_op_end_rel_nanos(node.op_end_rel_nanos);
  proto->set_all_end_rel_nanos(node.all_end_rel_nanos);
  proto->set_scheduled_nanos(node.scheduled_nanos);
  proto->set_all_start_micros(node.all_start_nanos / 1000);
  proto->set_op_start_rel_micros(node.op_start_rel_nanos / 1000);
  proto->set_op_end_rel_micros(node.op_end_rel_nanos / 1000);
  proto->set_all_end_rel_micros(node.all_end_rel_nanos / 1000);
  proto->set_scheduled_micros(node.scheduled_nanos / 1000);
  for (const NodeOutputStats& output : node.output) {
    pb::NodeOutput* out = proto->add_output();
    out->set_slot(output.slot);
    pb::TensorDescription* description = out->mutable_tensor_description();
    description->set_dtype(static_cast<pb::DataType>(output.dtype));
    for (int d = 0; d < output.shape.rank(); ++d) {
      description->mutable_shape()->add_dim()->set_size(output.shape.dim(d));
    }
    pb::AllocationDescription* allocation = description->mutable_allocation_description();
    allocation->set_requested_bytes(output.bytes);
    allocation->set_allocated_bytes(output.bytes);
    allocation->set_allocator_name("cpu");
  }
}

}  // namespace

void StepStatsToProto(const StepStats& stats, pb::StepStats* proto) {
  for (const DeviceStepStats& device : stats.dev_stats) {
    pb::DeviceStepStats* dev = proto->add_dev_stats();
    dev->set_device(device.device);
    for (const NodeExecStats& node : device.node_stats) NodeToProto(node, dev->add_node_stats());
  }
}

StepStats StepStatsFromProto(const pb::StepStats& proto) {
  StepStats stats;
  for (const pb::DeviceStepStats& dev : proto.dev_stats()) {
    DeviceStepStats& device = stats.dev_stats.emplace_back();
    device.device = dev.device();
    for (const pb::NodeExecStats& from : dev.node_stats()) {
      NodeExecStats& node = device.node_stats.emplace_back();
      node.node_name = from.node_name();
      node.timeline_label = from.timeline_label();
      node.thread_id = from.thread_id();
      node.all_start_nanos = from.all_start_nanos();
      node.op_start_rel_nanos = from.op_start_rel_nanos();
      node.op_end_rel_nanos = from.op_end_rel_nanos();
      node.all_end_rel_nanos = from.all_end_rel_nanos();
      node.scheduled_nanos = from.scheduled_nanos();
      for (const pb::NodeOutput& out : from.output()) {
        const pb::TensorDescription& description = out.tensor_description();
        NodeOutputStats output;
        output.slot = out.slot();
        output.dtype = static_cast<DataType>(description.dtype());
        for (const auto& dim : description.shape().dim()) {
          output.shape.AddDim(std::max<int64_t>(dim.size(), 0));
        }
        output.bytes = description.allocation_description().requested_bytes();
        node.output.push_back(std::move(output));
      }
    }
  }
  return stats;
}

}  // namespace sluice
