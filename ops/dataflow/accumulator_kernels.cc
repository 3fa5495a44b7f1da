// Kernels of conditional accumulators.
#include <array>

#include "executor/kernel/context.h"
#include "executor/trace/metrics.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/conditional_accumulator.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using Kind = ConditionalAccumulator::Kind;

// Exports the accumulator's counts as metrics.
std::shared_ptr<ConditionalAccumulator> Watched(std::shared_ptr<ConditionalAccumulator> made,
                                                const std::string& name) {
  Metrics::Global().Watch<ConditionalAccumulator>(
      made, [name](const ConditionalAccumulator& accumulator, std::vector<Metric>& out) {
        const ConditionalAccumulator::Counts counts = accumulator.counts();
        const auto add = [&](const char* metric, int64_t value) {
          out.push_back({metric, "accumulator", name, static_cast<double>(value)});
        };
        add("sluice_accumulator_gradients", counts.accumulated);
        add("sluice_accumulator_applied_total", counts.applied);
        add("sluice_accumulator_stale_total", counts.dropped_as_stale);
        add("sluice_accumulator_surplus_total", counts.dropped_as_surplus);
        add("sluice_accumulator_updates_total", counts.updates);
      });
  return made;
}

template <Kind kind>
struct MakeAccumulatorKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const Reduction reduction = init.AttrOr<std::string>("reduction_type", "MEAN") == "SUM"
                                    ? Reduction::kSum
                                    : Reduction::kMean;
    SLUICE_ASSIGN_OR_RETURN(const ReplicaGradients replicas, ReplicaGradientsOf(init));
    return MakeNamedResourceKernel<ConditionalAccumulator>(
        init,
        [&](const ResourceName& name) -> absl::StatusOr<std::shared_ptr<ConditionalAccumulator>> {
          return Watched(std::make_shared<ConditionalAccumulator>(
                             name.name, kind, init.attr<DataType>("dtype"),
                             init.attr<PartialShape>("shape"), reduction, replicas),
                         name.name);
        },
        [&](const ConditionalAccumulator& found) -> absl::Status {
          if (found.kind() == kind) return absl::OkStatus();
          return InvalidArgument(init.node().Describe(), ": expected an accumulator of ",
                                 kind == Kind::kDense ? "dense" : "sparse",
                                 " gradients behind this name, got one of the other kind");
        });
  }
};

absl::Status CheckScalar(const Tensor& t, std::string_view name) {
  if (t.shape().IsScalar()) return absl::OkStatus();
  return InvalidArgument("Argument ", name, " must be scalar, but had bad shape ",
                         t.shape().ToString());
}

absl::Status CheckKind(const KernelContext& c, const ConditionalAccumulator& accumulator, Kind kind,
                       DataType dtype) {
  if (accumulator.kind() == kind && accumulator.dtype() == dtype) return absl::OkStatus();
  return InvalidArgument(
      c.node().Describe(), ": expected an accumulator of ",
      kind == Kind::kDense ? "dense " : "sparse ", DataTypeName(dtype), " gradients, got one of ",
      accumulator.kind() == Kind::kDense ? "dense " : "sparse ", DataTypeName(accumulator.dtype()));
}

// Returns a function that runs work on the threads of the kernel. It must not outlive the context.
auto ParallelOf(KernelContext& c) {
  return [&c](int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)> f) {
    c.ParallelFor(total, cost, f);
  };
}

template <Kind kind>
class ApplyGradientKernel : public Kernel {
 public:
  explicit ApplyGradientKernel(KernelInit& init)
      : dtype_(init.attr<DataType>("dtype")),
        has_known_shape_(init.AttrOr<bool>("has_known_shape", false)),
        replica_(ReplicaOf(init.AttrOr<int64_t>(kReplicaAttr, -1))) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<ConditionalAccumulator> accumulator,
                            BorrowNamed<ConditionalAccumulator>(c, 0));
    SLUICE_RETURN_IF_ERROR(CheckKind(c, *accumulator, kind, dtype_));
    SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), "local_step"));
    const int64_t local_step = c.input(1).scalar<int64_t>();
    // The accumulator can then take over buffers that have no other owner, instead of copying them.
    std::array<GivenTensor, kind == Kind::kDense ? 1 : 3> gradient;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const int input = static_cast<int>(i) + 2;
      gradient[i] = GivenTensor(c.input(input), c.MovableInput(input));
    }
    Caller caller = CallerOf(c);
    caller.replica = replica_;
    return accumulator->Apply(caller, local_step, gradient, has_known_shape_, ParallelOf(c));
  }

 private:
  const DataType dtype_;
  const bool has_known_shape_;
  const int replica_;
};

absl::Status OutputGradient(KernelContext& c, absl::StatusOr<GradientTensors> taken) {
  if (!taken.ok()) return taken.status();
  for (size_t i = 0; i < taken->size(); ++i) {
    c.set_output(static_cast<int>(i), std::move((*taken)[i]));
  }
  return absl::OkStatus();
}

template <Kind kind>
class TakeGradientKernel : public AsyncKernel {
 public:
  explicit TakeGradientKernel(KernelInit& init) : dtype_(init.attr<DataType>("dtype")) {}

  void ComputeAsync(KernelContext& c, Done done) override {
    const auto accumulator = BorrowNamed<ConditionalAccumulator>(c, 0);
    if (!accumulator.ok()) return done(accumulator.status());
    absl::Status status = CheckKind(c, **accumulator, kind, dtype_);
    status.Update(CheckScalar(c.input(1), "num_required"));
    if (!status.ok()) return done(std::move(status));
    // The reduction runs in the kernel that adds the last gradient, possibly after this call has
    // returned. So it must not use the threads of this call's context.
    const auto here = [](int64_t total, double, absl::FunctionRef<void(int64_t, int64_t)> f) {
      f(0, total);
    };
    const Caller caller = CallerOf(c);
    const int64_t num_required = c.input(1).scalar<int32_t>();
    if (auto taken = (*accumulator)->TakeAtOnce(caller, num_required, here)) {
      return done(OutputGradient(c, *std::move(taken)));
    }
    (*accumulator)
        ->Take(caller, num_required, here,
               [&c, done = std::move(done)](absl::StatusOr<GradientTensors> taken) {
                 done(OutputGradient(c, std::move(taken)));
               });
  }
  bool IsExpensive() const override { return false; }

 private:
  const DataType dtype_;
};

absl::Status SetGlobalStep(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto accumulator, BorrowNamed<ConditionalAccumulator>(c, 0));
  // As in TensorFlow, errors call this argument "num_required" too.
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), "num_required"));
  accumulator->SetGlobalStep(c.input(1).scalar<int64_t>());
  return absl::OkStatus();
}

absl::Status NumAccumulated(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto accumulator, BorrowNamed<ConditionalAccumulator>(c, 0));
  return SetScalarOutput(c, static_cast<int32_t>(accumulator->counts().accumulated));
}

absl::Status SetUpdateSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto accumulator, BorrowNamed<ConditionalAccumulator>(c, 0));
  const Tensor& gradients = c.input(1);
  SLUICE_INVALID_IF(!gradients.shape().IsScalar() || gradients.scalar<int32_t>() < 1,
                    c.node().Describe(), ": expected a positive number of gradients, got ",
                    gradients.ToString());
  accumulator->SetUpdateSize(gradients.scalar<int32_t>());
  return absl::OkStatus();
}

constexpr TypeSet kGradients = {DT_HALF, DT_FLOAT, DT_DOUBLE};

KERNEL(ConditionalAccumulator, MakeAccumulatorKernel<Kind::kDense>, {"dtype", kGradients});
KERNEL(ResourceConditionalAccumulator, MakeAccumulatorKernel<Kind::kDense>, {"dtype", kGradients});
KERNEL(SparseConditionalAccumulator, MakeAccumulatorKernel<Kind::kSparse>, {"dtype", kGradients});
KERNEL(AccumulatorApplyGradient, ApplyGradientKernel<Kind::kDense>);
KERNEL(ResourceAccumulatorApplyGradient, ApplyGradientKernel<Kind::kDense>);
KERNEL(SparseAccumulatorApplyGradient, ApplyGradientKernel<Kind::kSparse>);
KERNEL(AccumulatorTakeGradient, TakeGradientKernel<Kind::kDense>);
KERNEL(ResourceAccumulatorTakeGradient, TakeGradientKernel<Kind::kDense>);
KERNEL(SparseAccumulatorTakeGradient, TakeGradientKernel<Kind::kSparse>);
KERNEL(AccumulatorSetGlobalStep, CheapFunctionKernel<SetGlobalStep>);
KERNEL(ResourceAccumulatorSetGlobalStep, CheapFunctionKernel<SetGlobalStep>);
KERNEL(AccumulatorNumAccumulated, CheapFunctionKernel<NumAccumulated>);
KERNEL(ResourceAccumulatorNumAccumulated, CheapFunctionKernel<NumAccumulated>);
KERNEL(AccumulatorSetUpdateSize, CheapFunctionKernel<SetUpdateSize>);
KERNEL(ResourceAccumulatorSetUpdateSize, CheapFunctionKernel<SetUpdateSize>);

}  // namespace
}  // namespace sluice
