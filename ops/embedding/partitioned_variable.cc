#include "ops/embedding/partitioned_variable.h"

#include <algorithm>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/ir/variable_slice.h"
#include "graph/status.h"
#include "ops/builders/constant.h"

namespace sluice {
namespace {

// Returns the dimension that is cut. INVALID_ARGUMENT if `partitions` does not fit the shape.
absl::StatusOr<int> CutAxis(std::string_view name, const TensorShape& shape,
                            const std::vector<int>& partitions) {
  int axis = 0;
  int cut = 0;
  SLUICE_INVALID_IF(static_cast<int>(partitions.size()) > shape.rank() || shape.rank() == 0,
                    "partitioned variable '", name, "': expected at most ", shape.rank(),
                    " partitions, one per dimension of ", shape.ToString(), ", got ",
                    partitions.size());
  for (size_t d = 0; d < partitions.size(); ++d) {
    SLUICE_INVALID_IF(
        partitions[d] < 1 || partitions[d] > std::max<int64_t>(1, shape.dim(static_cast<int>(d))),
        "partitioned variable '", name, "': expected 1 to ", shape.dim(static_cast<int>(d)),
        " parts of dimension ", d, ", got ", partitions[d]);
    if (partitions[d] == 1) continue;
    axis = static_cast<int>(d);
    ++cut;
  }
  if (cut <= 1) return axis;
  return InvalidArgument("partitioned variable '", name,
                         "': expected one dimension that is cut, got ", cut);
}

}  // namespace

PartitionedVariable::PartitionedVariable(Graph& graph, std::string_view name,
                                         const TensorShape& shape, const Initializer& initializer,
                                         const std::vector<int>& partitions,
                                         const VariableOptions& options, At at)
    : graph_(&graph), name_(name), shape_(shape) {
  const absl::StatusOr<int> axis = CutAxis(name, shape, partitions);
  if (!axis.ok()) {
    graph.SetError(axis.status(), at);
    return;
  }
  axis_ = *axis;
  NameScope scope(graph, name);
  name_ = scope.prefix().substr(0, scope.prefix().size() - 1);
  const int count = partitions.empty() ? 1 : partitions[axis_];
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    // If the size is not divisible, the first parts are larger by one.
    TensorShape part = shape;
    part.set_dim(axis_, shape.dim(axis_) / count + (i < shape.dim(axis_) % count ? 1 : 0));
    const Variable v(graph, StrCat("part_", i), part, initializer, options, at);
    if (!v) {
      parts_.clear();
      return;
    }
    VariableSlice slice = {name_,
                           {shape.dims().begin(), shape.dims().end()},
                           std::vector<int64_t>(static_cast<size_t>(shape.rank())),
                           {part.dims().begin(), part.dims().end()}};
    slice.offset[static_cast<size_t>(axis_)] = offset;
    offset += part.dim(axis_);
    SetVariableSlice(graph, v.handle().name(), slice);
    parts_.push_back(v);
  }
}

Output PartitionedVariable::Read(At at) const {
  if (parts_.empty()) return Output();
  Output value;
  if (parts_.size() == 1) {
    value = parts_[0].Read(at);
  } else {
    NameScope scope(*graph_, name_ + "/ConcatPartitions/");
    OutputList values;
    for (const Variable& part : parts_) values.push_back(part.snapshot());
    NameScope concat(*graph_, "concat");
    const Output axis = Constant(*graph_, static_cast<int32_t>(axis_), "axis", at);
    value = Output(NodeBuilder(graph_, "ConcatV2", at)
                       .Name(concat.prefix())
                       .Input(values)
                       .Input(axis)
                       .Finish());
  }
  NameScope root(*graph_, "");
  return Output(NodeBuilder(graph_, "Identity", at).Name(name_).Input(value).Finish());
}

}  // namespace sluice
