// Kernels that make queues.
#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "executor/trace/metrics.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/fifo_queue.h"
#include "ops/dataflow/gradient_queue.h"
#include "ops/dataflow/priority_queue.h"
#include "ops/dataflow/random_shuffle_queue.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::Status CheckShapes(const QueueSpec& options) {
  const std::vector<PartialShape>& shapes = options.shapes;
  const bool padding = options.kind == "PaddingFIFOQueue";
  SLUICE_INVALID_IF(padding && shapes.size() != options.types.size(),
                    "Shapes must be provided for all components, but received ",
                    options.types.size(), " dtypes and ", shapes.size(), " shapes.");
  SLUICE_INVALID_IF(!shapes.empty() && shapes.size() != options.types.size(),
                    "Different number of component types.  Types: ", TypesText(options.types),
                    ", Shapes: ", ShapesText(shapes));
  for (const PartialShape& s : shapes) {
    SLUICE_INVALID_IF(padding && !s.rank_known(), "shape ", s.ToString(), " must have known rank.");
  }
  return absl::OkStatus();
}

// Checks that a random shuffle queue can hold more elements than the number that must stay in it.
absl::Status CheckMinimum(const QueueSpec& options) {
  SLUICE_INVALID_IF(options.min_after_dequeue < 0, "min_after_dequeue ", options.min_after_dequeue,
                    " must be >= 0");
  SLUICE_INVALID_IF(options.capacity >= 0 && options.min_after_dequeue >= options.capacity,
                    "min_after_dequeue ", options.min_after_dequeue, " must be < capacity ",
                    options.capacity);
  return absl::OkStatus();
}

absl::StatusOr<QueueSpec> OptionsOf(const KernelInit& init) {
  QueueSpec options;
  options.kind = init.node().op();
  if (options.kind.ends_with("V2")) options.kind.resize(options.kind.size() - 2);
  options.capacity = init.AttrOr<int64_t>("capacity", -1);
  options.types = init.AttrOr<std::vector<DataType>>("component_types", {});
  options.shapes = init.AttrOr<std::vector<PartialShape>>("shapes", {});
  if (options.kind != "PaddingFIFOQueue") {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<TensorShape> fixed, FixedShapes(options.shapes));
    options.shapes.assign(fixed.begin(), fixed.end());
  }
  options.min_after_dequeue = init.AttrOr<int64_t>("min_after_dequeue", 0);
  options.seed = init.AttrOr<int64_t>("seed", 0);
  options.seed2 = init.AttrOr<int64_t>("seed2", 0);
  SLUICE_RETURN_IF_ERROR(CheckMinimum(options));
  if (options.kind == "PriorityQueue") {
    if (!options.shapes.empty() || options.types.empty()) {
      options.shapes.insert(options.shapes.begin(), PartialShape::Scalar());
    }
    options.types.insert(options.types.begin(), DT_INT64);
  }
  SLUICE_RETURN_IF_ERROR(CheckShapes(options));
  return options;
}

// Exports the number of elements of the queue as a metric. Returns the queue.
std::shared_ptr<QueueResource> Watched(std::shared_ptr<QueueResource> queue) {
  Metrics::Global().Watch<QueueResource>(
      queue, [](const QueueResource& q, std::vector<Metric>& out) {
        const auto elements = static_cast<double>(q.size());
        out.push_back({"sluice_queue_elements", "queue", q.options().name, elements});
      });
  return queue;
}

// Makes a kernel that finds the queue, or makes a Q from its specification and `more`.
template <typename Q, typename... More>
absl::StatusOr<std::unique_ptr<Kernel>> MakeQueueKernel(KernelInit& init, const More&... more) {
  SLUICE_ASSIGN_OR_RETURN(const QueueSpec options, OptionsOf(init));
  return MakeNamedResourceKernel<QueueResource>(
      init,
      [&](const ResourceName& name) {
        QueueSpec named = options;
        named.name = name.name;
        return Watched(std::make_shared<Q>(std::move(named), more...));
      },
      [&](const QueueResource& queue) { return queue.CheckSame(options); });
}

template <typename Q>
struct QueueKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeQueueKernel<Q>(init);
  }
};

// Makes a FIFO queue, or a queue of gradients if the node's attributes declare replicas.
struct FifoQueueKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const ReplicaGradients replicas, ReplicaGradientsOf(init));
    if (replicas.replicas == 0) return MakeQueueKernel<FifoQueue>(init);
    return MakeQueueKernel<GradientQueue>(init, replicas);
  }
};

KERNEL(FIFOQueue, FifoQueueKernel);
KERNEL(FIFOQueueV2, FifoQueueKernel);
KERNEL(PaddingFIFOQueue, QueueKernel<PaddingFifoQueue>);
KERNEL(PaddingFIFOQueueV2, QueueKernel<PaddingFifoQueue>);
KERNEL(PriorityQueue, QueueKernel<PriorityQueue>);
KERNEL(PriorityQueueV2, QueueKernel<PriorityQueue>);
KERNEL(RandomShuffleQueue, QueueKernel<RandomShuffleQueue>);
KERNEL(RandomShuffleQueueV2, QueueKernel<RandomShuffleQueue>);

}  // namespace
}  // namespace sluice
