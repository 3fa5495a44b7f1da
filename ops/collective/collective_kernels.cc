#include <memory>
#include <string>
#include <utility>

#include "executor/collective/collectives.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

CollectiveAlgorithm AlgorithmOf(const std::string& hint) {
  if (hint == "ring") return CollectiveAlgorithm::kRing;
  if (hint == "tree") return CollectiveAlgorithm::kTree;
  return CollectiveAlgorithm::kAuto;  // TensorFlow's other words name libraries
}

// What all of them do: say who calls, and wait for what comes of it.
class CollectiveKernel : public AsyncKernel {
 public:
  explicit CollectiveKernel(const KernelInit& init) : device_(init.device_name()) {
    made_.op = init.node().op();
    made_.node = init.name();
    made_.device = device_;
    made_.algorithm = AlgorithmOf(init.AttrOr<std::string>("communication_hint", "auto"));
    made_.timeout_seconds = init.AttrOr<float>("timeout_seconds", 0.0f);
  }

  void ComputeAsync(KernelContext& c, Done done) final {
    CollectiveCall call = made_;
    if (absl::Status status = Fill(c, &call); !status.ok()) return done(status);
    auto meet = c.resources().Lookup<Collectives>(Collectives::kContainer, Collectives::kName);
    if (!meet.ok()) {
      return done(absl::InternalError(StrCat(c.node().Describe(), ": device ", device_,
                                             " is of no task, so that nobody can meet there")));
    }
    call.step_id = c.step().step_id;
    // Each member's loop is a frame of its own; their iterations meet by number.
    if (c.frame_id != 0) call.iteration = StrCat(c.iteration);
    call.cancellation = c.step().cancellation;
    call.stalls = c.step().stalls;
    call.done = [&c, done = std::move(done)](absl::StatusOr<Tensor> result) {
      if (!result.ok()) return done(result.status());
      c.set_output(0, *std::move(result));
      done(absl::OkStatus());
    };
    (*meet)->Start(std::move(call));
  }

 protected:
  virtual absl::Status Fill(KernelContext& c, CollectiveCall* call) const = 0;
  void SetKeys(const KernelInit& init) {
    made_.group_size = static_cast<int>(init.attr<int64_t>("group_size"));
    made_.group_key = static_cast<int>(init.attr<int64_t>("group_key"));
    made_.instance_key = static_cast<int>(init.attr<int64_t>("instance_key"));
  }
  absl::Status SetMerge(const KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(made_.merge, MergeOpOf(init.attr<std::string>("merge_op")));
    SLUICE_ASSIGN_OR_RETURN(made_.final_op, FinalOpOf(init.attr<std::string>("final_op")));
    return absl::OkStatus();
  }
  static void SetInput(const Tensor& input, CollectiveCall* call) {
    call->input = input;
    call->dtype = input.dtype();
    call->shape = input.shape();
  }
  // The inputs group_size, group_key and instance_key, from input `first` on.
  static absl::Status ReadKeys(const KernelContext& c, int first, CollectiveCall* call) {
    int* const to[] = {&call->group_size, &call->group_key, &call->instance_key};
    const char* const names[] = {"group_size", "group_key", "instance_key"};
    for (int i = 0; i < 3; ++i) {
      const Tensor& value = c.input(first + i);
      if (!value.shape().IsScalar()) {
        return InvalidArgument("Unexpected dimensions on input ", names[i], ", got ",
                               value.shape().ToString());
      }
      *to[i] = value.scalar<int32_t>();
    }
    return absl::OkStatus();
  }

  CollectiveCall made_;

 private:
  const std::string device_;
};

absl::Status FillGather(const Tensor& input, CollectiveCall* call) {
  call->kind = CollectiveKind::kGather;
  if (input.rank() < 1) {
    return InvalidArgument(call->op, " node '", call->node,
                           "': expected an input with rows, got a scalar");
  }
  call->input = input;
  call->dtype = input.dtype();
  call->shape = input.shape();
  call->shape.set_dim(0, SaturatedProduct(input.dim(0), call->group_size));
  return absl::OkStatus();
}

class ReduceKernel final : public CollectiveKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    std::unique_ptr<ReduceKernel> kernel(new ReduceKernel(init));
    SLUICE_RETURN_IF_ERROR(kernel->SetMerge(init));
    if (!kernel->reads_keys_) kernel->SetKeys(init);
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kReduce;
    SetInput(c.input(0), call);
    return reads_keys_ ? ReadKeys(c, 1, call) : absl::OkStatus();
  }

 private:
  explicit ReduceKernel(const KernelInit& init)
      : CollectiveKernel(init), reads_keys_(init.node().op() == "CollectiveReduceV2") {}
  const bool reads_keys_;
};

class GatherKernel final : public CollectiveKernel {
 public:
  explicit GatherKernel(const KernelInit& init)
      : CollectiveKernel(init), reads_keys_(init.node().op() == "CollectiveGatherV2") {
    if (!reads_keys_) SetKeys(init);
  }

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    if (reads_keys_) SLUICE_RETURN_IF_ERROR(ReadKeys(c, 1, call));
    // Else the shape would be made of it.
    if (call->group_size <= 0) {
      return InvalidArgument("group_size must be positive integer but got ", call->group_size);
    }
    return FillGather(c.input(0), call);
  }

 private:
  const bool reads_keys_;
};

class BcastSendKernel final : public CollectiveKernel {
 public:
  explicit BcastSendKernel(const KernelInit& init)
      : CollectiveKernel(init), reads_keys_(init.node().op() == "CollectiveBcastSendV2") {
    if (reads_keys_) return;
    SetKeys(init);
    declared_ = init.attr<PartialShape>("shape");
  }

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kBroadcast;
    call->is_source = true;
    SetInput(c.input(0), call);
    if (reads_keys_) return ReadKeys(c, 1, call);
    if (declared_ == PartialShape(call->shape)) return absl::OkStatus();
    return absl::InternalError(StrCat("Declared shape of op ", call->node,
                                      " does not match shape of input: ", declared_.ToString(),
                                      " and ", call->shape.ToString()));
  }

 private:
  const bool reads_keys_;
  PartialShape declared_;
};

class BcastRecvKernel final : public CollectiveKernel {
 public:
  explicit BcastRecvKernel(const KernelInit& init)
      : CollectiveKernel(init), reads_keys_(init.node().op() == "CollectiveBcastRecvV2") {
    made_.dtype = init.attr<DataType>("T");
    if (reads_keys_) return;
    SetKeys(init);
    declared_ = init.attr<PartialShape>("shape");
  }

 protected:
  absl::Status Fill(KernelContext& c, CollectiveCall* call) const override {
    call->kind = CollectiveKind::kBroadcast;
    if (!reads_keys_) {
      SLUICE_ASSIGN_OR_RETURN(call->shape, KnownShape(declared_));
      return absl::OkStatus();
    }
    SLUICE_RETURN_IF_ERROR(ReadKeys(c, 0, call));
    const Tensor& shape = c.input(3);
    if (shape.rank() != 1) {
      return InvalidArgument("shape must be a vector of {int32,int64}, got shape ",
                             shape.shape().ToString());
    }
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      dims.push_back(shape.dtype() == DT_INT32 ? shape.data<int32_t>()[i]
                                               : shape.data<int64_t>()[i]);
    }
    SLUICE_ASSIGN_OR_RETURN(call->shape, KnownShape(PartialShape(dims)));
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<TensorShape> KnownShape(const PartialShape& shape) {
    if (!shape.IsFullyDefined()) {
      return InvalidArgument("expected a shape that is known, got ", shape.ToString());
    }
    return TensorShape::Make(shape.dims());
  }

  const bool reads_keys_;
  PartialShape declared_;
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
