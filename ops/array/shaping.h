// Functions that add array ops to a graph, with shapes, sizes and axes given as numbers. The
// generated builder functions (ops/builders/ops.h) take them as tensors.
//
// Errors: stay in the graph. The result is then an invalid handle.
// Reference: the nodes and their names are those of TensorFlow's Python functions.
#ifndef SLUICE_OPS_ARRAY_SHAPING_H_
#define SLUICE_OPS_ARRAY_SHAPING_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// The options of functions whose only option is the name of the node. "" means the op's default
// name. Example: `Reshape(x, {-1}, {.name = "flat"})`.
struct Named {
  std::string_view name = "";
};

Output Reshape(Output x, const std::vector<int64_t>& shape, const Named& options = {},
               At at = At::current());
// Permutes the axes: axis i of the result is axis perm[i] of `x`. Without `perm`, reverses the
// axes; the static rank must then be known.
Output Transpose(Output x, const std::vector<int64_t>& perm, const Named& options = {},
                 At at = At::current());
Output Transpose(Output x, At at = At::current());
Output ExpandDims(Output x, int axis, const Named& options = {}, At at = At::current());
Output Tile(Output x, const std::vector<int64_t>& multiples, const Named& options = {},
            At at = At::current());
// Pads `x` with zeros. `paddings` has one pair per axis: the numbers of elements to add at the
// beginning and at the end of the axis.
Output Pad(Output x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
           const Named& options = {}, At at = At::current());
// Returns the elements begin[i], …, begin[i] + size[i] - 1 along each axis i. A size of -1 means
// all remaining elements.
Output Slice(Output x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             const Named& options = {}, At at = At::current());
Output Concat(const OutputList& values, int axis, const Named& options = {}, At at = At::current());
// Splits `x` into `num` equal parts along `axis`.
OutputList Split(Output x, int num, int axis = 0, const Named& options = {}, At at = At::current());
// Splits `x` along `axis`. Part i has size sizes[i].
OutputList Split(Output x, const std::vector<int64_t>& sizes, int axis, const Named& options = {},
                 At at = At::current());
// Stacks tensors of equal shape along a new axis.
Output Stack(const OutputList& values, int axis = 0, const Named& options = {},
             At at = At::current());
// Splits `x` into tensors without `axis`, as the inverse of Stack. `num` is the size of `axis`. -1
// means the static size, which must then be known.
OutputList Unstack(Output x, int axis = 0, int num = -1, const Named& options = {},
                   At at = At::current());
Output OneHot(Output indices, int depth, DataType dtype = DT_FLOAT, const Named& options = {},
              At at = At::current());
Output ArgMax(Output x, int axis, const Named& options = {}, At at = At::current());
Output ArgMin(Output x, int axis, const Named& options = {}, At at = At::current());

// Return the shape, the number of elements and the rank of `x` as int32. As in tf.shape, the result
// is a constant if it is known statically. A constant that does not fit into int32 is int64.
Output ShapeOf(Output x, std::string_view name = "Shape", At at = At::current());
Output SizeOf(Output x, std::string_view name = "Size", At at = At::current());
Output RankOf(Output x, std::string_view name = "Rank", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_ARRAY_SHAPING_H_
