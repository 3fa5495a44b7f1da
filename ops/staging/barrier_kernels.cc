// Kernels of the ops on barriers (barrier_ops.cc).
#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/staging/barrier.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::StatusOr<BarrierSpec> SpecOf(const KernelInit& init) {
  BarrierSpec spec;
  spec.types = init.AttrOr<std::vector<DataType>>("component_types", {});
  SLUICE_INVALID_IF(
      init.AttrOr<int64_t>("capacity", -1) != -1,
      "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to "
      "enforce a limited capacity.");
  const auto shapes = init.AttrOr<std::vector<PartialShape>>("shapes", {});
  SLUICE_INVALID_IF(shapes.size() != spec.types.size(),
                    "All of the component shapes must be specified");
  SLUICE_ASSIGN_OR_RETURN(spec.shapes, FixedShapes(shapes));
  return spec;
}

absl::Status CheckSame(const BarrierSpec& has, const BarrierSpec& requested) {
  SLUICE_INVALID_IF(has.types != requested.types, "Shared barrier '", has.name,
                    "' has component types ", TypesText(has.types),
                    " but requested component types were ", TypesText(requested.types));
  SLUICE_INVALID_IF(has.shapes != requested.shapes, "Shared barrier '", has.name,
                    "' has component shapes ", ShapesText(has.shapes),
                    " but requested component shapes were ", ShapesText(requested.shapes));
  return absl::OkStatus();
}

struct BarrierKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BarrierSpec spec, SpecOf(init));
    return MakeNamedResourceKernel<BarrierResource>(
        init,
        [&](const ResourceName& name) -> absl::StatusOr<std::shared_ptr<BarrierResource>> {
          BarrierSpec named = spec;
          named.name = name.name;
          return std::make_shared<BarrierResource>(std::move(named));
        },
        [&](const BarrierResource& barrier) { return CheckSame(barrier.spec(), spec); });
  }
};

absl::Status Insert(KernelContext& c, Attr<int64_t, "component_index"> component) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<BarrierResource> barrier,
                          LookupNamed<BarrierResource>(c, 0));
  const std::vector<DataType>& types = barrier->spec().types;
  SLUICE_INVALID_IF(component < 0 || component >= static_cast<int64_t>(types.size()),
                    "The component ID is out of range ", component.value,
                    " > num_components (= ", types.size(), ")");
  const DataType expected = types[component];
  SLUICE_INVALID_IF(c.input(2).dtype() != expected,
                    "Signature mismatch, have: string_ref, string, ",
                    DataTypeName(c.input(2).dtype()), "-> expected: string_ref, string, ",
                    DataTypeName(expected), "->");
  return barrier->Insert(c.input(1), component, c.input(2));
}

class TakeKernel : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_INVALID_IF(init.AttrOr<int64_t>("timeout_ms", -1) != -1, "Timeout not supported yet.");
    return std::unique_ptr<Kernel>(new TakeKernel(init));
  }
  void ComputeAsync(KernelContext& c, Done done) override {
    absl::StatusOr<std::shared_ptr<BarrierResource>> barrier = LookupNamed<BarrierResource>(c, 0);
    if (!barrier.ok()) return done(barrier.status());
    if (types_ != (*barrier)->spec().types) {
      return done(InvalidArgument(
          "Signature mismatch, have: string_ref, int32->int64, string, ", TypesText(types_),
          " expected: string_ref, int32->int64, string, ", TypesText((*barrier)->spec().types)));
    }
    const Tensor& count = c.input(1);
    if (!count.shape().IsScalar()) return done(InvalidArgument("num_elements must be a scalar."));
    if (count.scalar<int32_t>() < 0) {
      return done(InvalidArgument("num_elements must be >= 0, got ", count.scalar<int32_t>()));
    }
    (*barrier)->Take(CallerOf(c), count.scalar<int32_t>(), allow_fewer_,
                     [&c, done = std::move(done)](absl::StatusOr<BarrierResource::Batch> batch) {
                       if (!batch.ok()) return done(batch.status());
                       c.set_output(0, std::move(batch->indices));
                       c.set_output(1, std::move(batch->keys));
                       SetOutputs(c, 2, std::move(batch->components));
                       done(absl::OkStatus());
                     });
  }
  bool IsExpensive() const override { return false; }

 private:
  explicit TakeKernel(KernelInit& init)
      : types_(init.attr<std::vector<DataType>>("component_types")),
        allow_fewer_(init.AttrOr<bool>("allow_small_batch", false)) {}
  const std::vector<DataType> types_;
  const bool allow_fewer_;
};

absl::Status Close(KernelContext& c, Attr<bool, "cancel_pending_enqueues", false> cancel_pending) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<BarrierResource> barrier,
                          LookupNamed<BarrierResource>(c, 0));
  return barrier->Close(cancel_pending);
}

template <int64_t (BarrierResource::*kSize)() const>
absl::Status BarrierSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<BarrierResource> barrier,
                          LookupNamed<BarrierResource>(c, 0));
  return SetScalarOutput(c, static_cast<int32_t>((*barrier.*kSize)()));
}

template <int64_t (BarrierResource::*kSize)() const>
using SizeKernel = CheapFunctionKernel<BarrierSize<kSize>>;

KERNEL(Barrier, BarrierKernel);
KERNEL(BarrierClose, CheapFunctionKernel<Close>);
KERNEL(BarrierIncompleteSize, SizeKernel<&BarrierResource::incomplete_size>);
KERNEL(BarrierInsertMany, FunctionKernel<Insert>);
KERNEL(BarrierReadySize, SizeKernel<&BarrierResource::ready_size>);
KERNEL(BarrierTakeMany, TakeKernel);

}  // namespace
}  // namespace sluice
