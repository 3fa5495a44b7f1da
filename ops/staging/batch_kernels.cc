// Kernels of Batch, Unbatch and UnbatchGrad.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/staging/batcher.h"

namespace sluice {
namespace {

// Passes calls to the resource, which all nodes with the same name share.
template <typename R>
class BatchKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ResourceName name, ResourceNameOf(init, true));
    std::unique_ptr<BatchKernel> made(new BatchKernel(init, std::move(name)));
    SLUICE_RETURN_IF_ERROR(
        Annotate(made->limits_.Check(), StrCat(init.node().op(), " node '", init.name(), "': ")));
    return made;
  }
  void ComputeAsync(KernelContext& c, Done done) override {
    const auto found = c.resources().LookupOrCreate<R>(name_.container, name_.name, [this] {
      if constexpr (std::is_same_v<R, Batcher>) {
        return absl::StatusOr<std::shared_ptr<R>>(
            std::make_shared<R>(name_.name, limits_, -1, GiveToLast));
      } else if constexpr (std::is_same_v<R, Unbatcher>) {
        return absl::StatusOr<std::shared_ptr<R>>(std::make_shared<R>(name_.name, timeout_us_));
      } else {
        return absl::StatusOr<std::shared_ptr<R>>(std::make_shared<R>(name_.name));
      }
    });
    if (!found.ok()) return done(found.status());
    (*found)->Add(c, std::move(done));
  }
  bool IsExpensive() const override { return false; }

 private:
  BatchKernel(const KernelInit& init, ResourceName name)
      : name_(std::move(name)),
        limits_{.rows = init.AttrOr<int64_t>("max_batch_size", 0),
                .timeout_us = init.AttrOr<int64_t>("batch_timeout_micros", 0),
                .sizes = init.AttrOr<std::vector<int64_t>>("allowed_batch_sizes", {})},
        timeout_us_(init.AttrOr<int64_t>("timeout_micros", 0)) {
    // The queues of one scheduler have separate batches.
    const auto queue = init.AttrOr<std::string>("batching_queue", "");
    if (!queue.empty()) name_.name += "/" + queue;
  }

  ResourceName name_;
  const BatchLimits limits_;
  const int64_t timeout_us_;
};
KERNEL(Batch, BatchKernel<Batcher>);
KERNEL(Unbatch, BatchKernel<Unbatcher>);
KERNEL(UnbatchGrad, BatchKernel<GradBatcher>);

}  // namespace
}  // namespace sluice
