// Finds constants and their values.
#ifndef SLUICE_GRAPH_IR_CONSTANT_H_
#define SLUICE_GRAPH_IR_CONSTANT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

inline bool IsConstant(const Node& node) { return node.role() == OpRole::kConstant; }

// Whether output 0 always equals input 0 and a reader may read input 0 instead. False if the node
// forwards a reference, may be fed, or may fail (CheckNumerics).
inline bool OnlyPassesOn(const Node& node) {
  return node.role() == OpRole::kPass && node.traits().impurity == Impurity::kNone &&
         !IsRefType(node.output_type(0));
}

// The value of `output` if it is a constant, otherwise null. Looks through up to 15 nodes that
// forward their input: those for which OnlyPassesOn is true, and constant Enters of loops. The
// value lives as long as the constant's node.
const Tensor* ConstantBehind(Output output);
// The value as integers. Nothing if it is no constant, or no int32 or int64 scalar or vector.
std::optional<std::vector<int64_t>> ConstantInts(Output output);
// The value if it is a constant vector that contains each of 0, 1, ... rank - 1 once.
std::optional<std::vector<int64_t>> ConstantPermutation(Output output, int rank);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_CONSTANT_H_
