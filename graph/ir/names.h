// Names of nodes and tensors.
//
// Thread safety: pure functions.
#ifndef SLUICE_GRAPH_IR_NAMES_H_
#define SLUICE_GRAPH_IR_NAMES_H_

#include <string_view>

namespace sluice {

// Whether the name consists of groups [A-Za-z0-9.][A-Za-z0-9_.\-/\\]*, joined by '>'. With
// allow_internal, a group may also begin with '_'.
bool IsValidNodeName(std::string_view name, bool allow_internal);

// A parsed tensor name: "name" (output 0), "name:<index>", or "^name" for the node (index -1).
struct TensorName {
  std::string_view node;
  int index;
};
TensorName ParseTensorName(std::string_view text);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_NAMES_H_
