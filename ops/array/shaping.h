// Builder functions of array ops whose shapes, sizes and axes are given as numbers. The generated
// functions of the same names take tensors.
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

// The options of functions that only have a name: `Reshape(x, {-1}, {.name = "flat"})`.
struct Named {
  std::string_view name = "";
};

Output Reshape(Output x, const std::vector<int64_t>& shape, const Named& options = {},
               At at = At::current());
// Permutes the axes. Without `perm`, reverses them; the rank must then be known.
Output Transpose(Output x, const std::vector<int64_t>& perm, const Named& options = {},
                 At at = At::current());
Output Transpose(Output x, At at = At::current());
Output ExpandDims(Output x, int axis, const Named& options = {}, At at = At::current());
Output Tile(Output x, const std::vector<int64_t>& multiples, const Named& options = {},
            At at = At::current());
// `paddings` has the numbers of elements added before and after each axis.
Output Pad(Output x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
           const Named& options = {}, At at = At::current());
// A size of -1 means all remaining elements.
Output Slice(Output x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             const Named& options = {}, At at = At::current());
Output Concat(const OutputList& values, int axis, const Named& options = {}, At at = At::current());
// Splits into `num` equal parts along `axis`.
OutputList Split(Output x, int num, int axis = 0, const Named& options = {}, At at = At::current());
// Splits into parts of the given sizes along `axis`.
OutputList Split(Output x, const std::vector<int64_t>& sizes, int axis, const Named& options = {},
                 At at = At::current());
// Stacks tensors along a new axis.
Output Stack(const OutputList& values, int axis = 0, const Named& options = {},
             At at = At::current());
// Undoes Stack. The size of `axis` must be known unless `num` is given.
OutputList Unstack(Output x, int axis = 0, int num = -1, const Named& options = {},
                   At at = At::current());
Output OneHot(Output indices, int depth, DataType dtype = DT_FLOAT, const Named& options = {},
              At at = At::current());
Output ArgMax(Output x, int axis, const Named& options = {}, At at = At::current());
Output ArgMin(Output x, int axis, const Named& options = {}, At at = At::current());

// Shape, number of elements and rank as int32. Constants if they are known, as in tf.shape.
Output ShapeOf(Output x, std::string_view name = "Shape", At at = At::current());
Output SizeOf(Output x, std::string_view name = "Size", At at = At::current());
Output RankOf(Output x, std::string_view name = "Rank", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_ARRAY_SHAPING_H_
