// Kernels of the collective ops (collective.cc).
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "executor/collective/collectives.h"
#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/int_tensor.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

CollectiveAlgorithm AlgorithmOf(const std::string& hint) {
  if (hint == "ring") return CollectiveAlgorithm::kRing;
  if (hint == "tree") return CollectiveAlgorithm::kTree;
  return CollectiveAlgorithm::kAuto;  // TensorFlow's other hints name libraries
}

absl::StatusOr<MergeOp> MergeOpOf(std::string_view name) {
  if (name == "Add") return MergeOp::kAdd;
  if (name == "Mul") return MergeOp::kMul;
  if (name == "Min") return MergeOp::kMin;
  if (name == "Max") return MergeOp::kMax;
  return InvalidArgument("merge_op must be one of Add, Mul, Min, Max, got '", name, "'");
}

absl::StatusOr<FinalOp> FinalOpOf(std::string_view name) {
  if (name == "Id") return FinalOp::kId;
  if (name == "Div") return FinalOp::kDiv;
  return InvalidArgument("final_op must be one of Id, Div, got '", name, "'");
}

// Starts a call of a collective. Fill supplies the arguments that differ between ops. The result
// becomes output 0.
class CollectiveKernel : public AsyncKernel {
 public:
  explicit CollectiveKernel(const KernelInit& init)
      : device_(init.device_name()),
        has_key_inputs_(init.node().FindAttr<int64_t>("group_size") == nullptr) {
    made_.op = init.node().op();
    made_.node = init.name();
    made_.device = device_;
    made_.algorithm = AlgorithmOf(init.AttrOr<std::string>("communication_hint", "auto"));
    made_.timeout_seconds = init.AttrOr<float>("timeout_seconds", 0.0f);
    key_attrs_ = ReadKeyAttrs(init, &made_);
  }

  void ComputeAsync(KernelContext& c, Done done) final {
    CollectiveCall call = made_;
    absl::Status status = has_key_inputs_ ? ReadKeys(c, &call) : key_attrs_;
    if (status.ok()) status = Fill(c, &call);
    if (!status.ok()) return done(status);
    auto collectives = Collectives::Of(c.resources());
    if (!collectives.ok()) {
      return done(
          absl::InternalError(StrCat(c.node().Describe(), ": device ", device_,
                                     " belongs to no task, so that it has no collectives")));
    }
    call.step_id = c.step().step_id;
    // In a while loop, a member exchanges values with the same iteration of the other members. Only
    // the iteration is compared, because the frames of members differ.
    if (c.frame_id != 0) call.iteration = StrCat(c.iteration);
    call.cancellation = c.step().cancellation;
    call.stalls = c.step().stalls;
    call.done = [&c, done = std::move(done)](absl::StatusOr<Tensor> result) {
      if (!result.ok()) return done(result.status());
      c.set_output(0, *std::move(result));
      done(absl::OkStatus());
    };
    (*collectives)->Start(std::move(call));
  }

 protected:
  virtual absl::Status Fill(KernelContext& c, CollectiveCall* call) const = 0;
  static void SetInput(const Tensor& input, CollectiveCall* call) {
    call->input = input;
    call->dtype = input.dtype();
    call->shape = input.shape();
  }
  bool has_key_inputs() const { return has_key_inputs_; }

  CollectiveCall made_;  // the arguments that are the same in all calls

 private:
  static constexpr std::array<std::pair<const char*, int CollectiveCall::*>, 3> kKeys = {
      {{"group_size", &CollectiveCall::group_size},
       {"group_key", &CollectiveCall::group_key},
       {"instance_key", &CollectiveCall::instance_key}}};

  static absl::Status ReadKeys(const KernelContext& c, CollectiveCall* call) {
    for (const auto& [name, key] : kKeys) {
      const Tensor& value = c.input(InputIndex(c, name));
      SLUICE_INVALID_IF(!value.shape().IsScalar(), "Unexpected dimensions on input ", name,
                        ", got ", value.shape().ToString());
      call->*key = value.scalar<int32_t>();
    }
    return absl::OkStatus();
  }
  static absl::Status ReadKeyAttrs(const KernelInit& init, CollectiveCall* call) {
    for (const auto& [name, key] : kKeys) {
      const int64_t value = init.AttrOr<int64_t>(name, 0);
      call->*key = static_cast<int>(value);
      SLUICE_INVALID_IF(call->*key != value, init.node().Describe(), ": Attr ", name, " has value ",
                        value, " out of range for an int32");
    }
    return absl::OkStatus();
  }

  const std::string device_;
  const bool has_key_inputs_;
  absl::Status key_attrs_;  // whether they are valid, if the keys are attributes
};

class ReduceKernel final : public CollectiveKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    auto kernel = std::make_unique<ReduceKernel>(init);
    SLUICE_ASSIGN_OR_RETURN(kernel->made_.merge, MergeOpOf(init.attr<std::string>("merge_op")));
    SLUICE_ASSIGN_OR_RETURN(kernel->made_.final_op, FinalOpOf(init.attr<std::string>("final_op")));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  using CollectiveKernel::CollectiveKernel;

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kReduce;
    SetInput(c.input(0), call);
    return absl::OkStatus();
  }
};

class GatherKernel final : public CollectiveKernel {
 public:
  using CollectiveKernel::CollectiveKernel;

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kGather;
    SLUICE_INVALID_IF(call->group_size <= 0, "group_size must be positive integer but got ",
                      call->group_size);
    SetInput(c.input(0), call);
    SLUICE_INVALID_IF(call->shape.rank() < 1, call->op, " node '", call->node,
                      "': input should have rank > 0, received 0");
    call->shape.set_dim(0, SaturatedProduct(call->shape.dim(0), call->group_size));
    return absl::OkStatus();
  }
};

class BcastSendKernel final : public CollectiveKernel {
 public:
  explicit BcastSendKernel(const KernelInit& init)
      : CollectiveKernel(init), declared_(init.AttrOr<PartialShape>("shape", PartialShape())) {}

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kBroadcast;
    call->is_source = true;
    SetInput(c.input(0), call);
    if (has_key_inputs()) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const TensorShape declared, FixedShape(declared_));
    if (declared == call->shape) return absl::OkStatus();
    return absl::InternalError(StrCat("Declared shape of op ", call->node,
                                      " does not match shape of input: ", declared.ToString(),
                                      " and ", call->shape.ToString()));
  }

 private:
  const PartialShape declared_;
};

class BcastRecvKernel final : public CollectiveKernel {
 public:
  explicit BcastRecvKernel(const KernelInit& init)
      : CollectiveKernel(init), declared_(init.AttrOr<PartialShape>("shape", PartialShape())) {
    made_.dtype = init.attr<DataType>("T");
  }

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kBroadcast;
    if (!has_key_inputs()) {
      SLUICE_ASSIGN_OR_RETURN(call->shape, FixedShape(declared_));
      return absl::OkStatus();
    }
    const Tensor& shape = c.input(3);
    SLUICE_INVALID_IF(shape.rank() != 1, "shape must be a vector of {int32,int64}, got shape ",
                      shape.shape().ToString());
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < shape.num_elements(); ++i) dims.push_back(IntAt(shape, i));
    SLUICE_ASSIGN_OR_RETURN(call->shape, FixedShape(PartialShape(dims)));
    return absl::OkStatus();
  }

 private:
  const PartialShape declared_;
};

KERNEL(CollectiveReduce, ReduceKernel,
       {"T", {DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}});
KERNEL(CollectiveReduceV2, ReduceKernel,
       {"T", {DT_BFLOAT16, DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}});
KERNEL(CollectiveGather, GatherKernel, {"T", {DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}});
KERNEL(CollectiveGatherV2, GatherKernel, {"T", {DT_FLOAT, DT_HALF, DT_DOUBLE, DT_INT32, DT_INT64}});
KERNEL(CollectiveBcastSend, BcastSendKernel);
KERNEL(CollectiveBcastSendV2, BcastSendKernel);
KERNEL(CollectiveBcastRecv, BcastRecvKernel);
KERNEL(CollectiveBcastRecvV2, BcastRecvKernel);

}  // namespace
}  // namespace sluice
