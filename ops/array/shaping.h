// Functions over shapes and axes that a program writes as numbers. The generated ones of the same
// name take tensors.
#ifndef SLUICE_OPS_ARRAY_SHAPING_H_
#define SLUICE_OPS_ARRAY_SHAPING_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Optional name of a function without other options: `Reshape(x, {-1}, {.name = "flat"})`.
struct Named {
  std::string_view name = "";
};

Output Reshape(Output x, const std::vector<int64_t>& shape, const Named& options = {},
               At at = At::current());
// Permutes the axes; without `perm` reverses them (the rank must be known).
Output Transpose(Output x, const std::vector<int64_t>& perm, const Named& options = {},
                 At at = At::current());
Output Transpose(Output x, At at = At::current());
Output ExpandDims(Output x, int axis, const Named& options = {}, At at = At::current());
Output Tile(Output x, const std::vector<int64_t>& multiples, const Named& options = {},
            At at = At::current());
// `paddings`: rows before and after, an axis each.
Output Pad(Output x, const std::vector<std::pair<int64_t, int64_t>>& paddings,
           const Named& options = {}, At at = At::current());
// size -1 = to the end.
Output Slice(Output x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             const Named& options = {}, At at = At::current());
Output Concat(const OutputList& values, int axis, const Named& options = {}, At at = At::current());
// `num` equal parts along `axis`.
OutputList Split(Output x, int num, int axis = 0, const Named& options = {}, At at = At::current());
// Parts of the given sizes along `axis`.
OutputList Split(Output x, const std::vector<int64_t>& sizes, int axis, const Named& options = {},
                 At at = At::current());
// A new axis that counts the tensors, and back (the size of `axis` must be known, or `num` given).
Output Stack(const OutputList& values, int axis = 0, const Named& options = {},
             At at = At::current());
OutputList Unstack(Output x, int axis = 0, int num = -1, const Named& options = {},
                   At at = At::current());
Output OneHot(Output indices, int depth, DataType dtype = DT_FLOAT, const Named& options = {},
              At at = At::current());
Output ArgMax(Output x, int axis, const Named& options = {}, At at = At::current());
Output ArgMin(Output x, int axis, const Named& options = {}, At at = At::current());

// Shape, number of elements and rank as int32: a Const where they are known now, as tf.shape does.
Output ShapeOf(Output x, std::string_view name = "Shape", At at = At::current());
Output SizeOf(Output x, std::string_view name = "Size", At at = At::current());
Output RankOf(Output x, std::string_view name = "Rank", At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_ARRAY_SHAPING_H_
