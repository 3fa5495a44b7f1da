// A VariableSlice is the position of one part in a partitioned variable. A Saver needs it to write
// the parts as slices of one variable.
//
// The graph keeps it in a private collection ("__…"), because few graphs have such variables.
// Thread safety: that of the graph.
#ifndef SLUICE_GRAPH_IR_VARIABLE_SLICE_H_
#define SLUICE_GRAPH_IR_VARIABLE_SLICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

struct VariableSlice {
  std::string full_name;
  std::vector<int64_t> full_shape;
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;

  // "4 2 0,2:0,2": the full shape, then offset and length of each dimension, as SaveV2 takes it.
  std::string ShapeAndSlice() const;
  bool operator==(const VariableSlice&) const = default;
};

// Stores the slice of a variable. `variable` is the name of its tensor ("w/part_0:0"). A later call
// for the same variable replaces the slice.
void SetVariableSlice(Graph& graph, std::string_view variable, const VariableSlice& slice);
// Returns nullopt for a variable that is not a part.
std::optional<VariableSlice> FindVariableSlice(const Graph& graph, std::string_view variable);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_VARIABLE_SLICE_H_
