#include "training/strategy/multi_worker_mirrored_strategy.h"

#include <utility>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/dataflow/collective_builders.h"
#include "ops/indexing/slice_builders.h"
#include "ops/indexing/where_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/sugar.h"

namespace sluice {

MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(Graph& graph, MultiWorkerOptions options)
    : MirroredStrategy(graph, options.devices, options.loss_reduction),
      graph_(graph),
      options_(std::move(options)) {
  if (options_.workers > 0 && options_.worker >= 0 && options_.worker < options_.workers) return;
  graph.SetError(InvalidArgument("MultiWorkerMirroredStrategy: expected a worker in [0, ",
                                 options_.workers, "), got ", options_.worker));
}

Output MultiWorkerMirroredStrategy::Broadcast(const Output& value, const PartialShape& shape,
                                              DataType dtype) {
  DeviceScope device(graph_, Device());
  const int instance = NextInstance();
  if (options_.worker == 0) {
    return CollectiveBcastSend(value, options_.workers, options_.group_key, instance, shape);
  }
  return CollectiveBcastRecv(graph_, dtype, options_.workers, options_.group_key, instance, shape);
}

Initializer MultiWorkerMirroredStrategy::SharedInitializer(const Initializer& initializer) {
  if (options_.workers == 1) return initializer;
  return [this, initializer](Graph& graph, const TensorShape& shape, DataType dtype) {
    Output value;
    if (options_.worker == 0) value = initializer(graph, shape, dtype);
    return Broadcast(value, shape, dtype);
  };
}

Operation MultiWorkerMirroredStrategy::BroadcastVariables() {
  InitScope init(graph_);
  NameScope scope(graph_, "broadcast_variables");
  std::vector<Operation> given;
  for (const Variable& v : GlobalVariables(graph_)) {
    const Output value = Broadcast(v.Read(), v.shape(), v.dtype());
    if (options_.worker == 0) {
      given.push_back(Operation(value));
    } else {
      DeviceScope beside(graph_, v.device());
      given.push_back(v.Assign(value));
    }
  }
  return Group(graph_, given);
}

Output MultiWorkerMirroredStrategy::SumOfWorkers(const Output& value) {
  return CollectiveReduce(value, options_.workers, options_.group_key, NextInstance(), "Add", "Id",
                          {0});
}

// Returns the rows of all workers. They may have different numbers of rows, so pads all to the
// largest number for the transfer.
IndexedSlices MultiWorkerMirroredStrategy::RowsOfWorkers(const IndexedSlices& rows) {
  const int workers = options_.workers, key = options_.group_key;
  const Output count = Slice(Shape(rows.indices), {0}, {1});
  const Output counts = CollectiveGather(count, workers, key, NextInstance(), {workers});
  const Output most = ReduceMax(counts);
  const Output fill = Reshape(most - Reshape(count, std::vector<int64_t>{}), {1});
  const auto gather = [&](const Output& t) {
    const Output none =
        Fill(Concat({fill, Slice(Shape(t), {1}, {-1})}, 0), Cast(Constant(graph_, 0), t.dtype()));
    return CollectiveGather(Concat({t, none}, 0), workers, key, NextInstance(), {-1});
  };
  const Output values = gather(rows.values);
  const Output indices = gather(rows.indices);
  const Output number = Range(Constant(graph_, 0), most, Constant(graph_, 1));
  const Output is_row = Less(ExpandDims(number, 0), ExpandDims(counts, 1));
  const Output kept = Reshape(Where(Reshape(is_row, {-1})), {-1});
  return {.values = Gather(values, kept),
          .indices = Gather(indices, kept),
          .dense_shape = rows.dense_shape};
}

absl::StatusOr<PerReplica<Grad>> MultiWorkerMirroredStrategy::ReduceTo(
    ReduceOp op, const PerReplica<Grad>& values, const Variable& variable) {
  SLUICE_ASSIGN_OR_RETURN(PerReplica<Grad> local,
                          MirroredStrategy::ReduceTo(ReduceOp::kSum, values, variable));
  if (local[0].is_none()) return local;
  Grad sum = local[0];
  {
    DeviceScope device(graph_, Device());
    if (options_.workers > 1) {
      sum = sum.is_slices() ? Grad(RowsOfWorkers(sum.slices())) : Grad(SumOfWorkers(sum.dense()));
    }
    if (op == ReduceOp::kMean) sum = Scaled(sum, 1.0 / num_replicas());
  }
  for (Grad& component : local) component = sum;
  SLUICE_RETURN_IF_ERROR(graph_.status());
  return local;
}

}  // namespace sluice
