#include "graph/ir/purity.h"

namespace sluice {
namespace {

bool CarriesState(DataType type) {
  return IsRefType(type) || type == DT_RESOURCE || type == DT_VARIANT;
}

}  // namespace

Impurity ImpurityOf(const Node& node) {
  if (const Impurity of_op = node.traits().impurity; of_op != Impurity::kNone) return of_op;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (CarriesState(node.output_type(i))) return Impurity::kNamesObject;
  }
  for (const Output& in : node.inputs()) {
    // A value that is read through a reference may change between two reads. An input is missing
    // only while a loop is being built.
    if (!in || CarriesState(in.dtype())) return Impurity::kNamesObject;
  }
  return Impurity::kNone;
}

}  // namespace sluice
