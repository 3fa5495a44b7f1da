#include "executor/passes/purity.h"

#include <set>
#include <string>

namespace sluice {
namespace {

// Ops without state that still must stay where they are: they steer execution, stand for a value
// from outside, or exist to be seen.
bool StaysInPlace(const std::string& op) {
  static const std::set<std::string>* ops = new std::set<std::string>{"Switch",
                                                                      "_SwitchN",
                                                                      "Merge",
                                                                      "Enter",
                                                                      "Exit",
                                                                      "NextIteration",
                                                                      "LoopCond",
                                                                      "ControlTrigger",
                                                                      "RefSwitch",
                                                                      "RefMerge",
                                                                      "RefEnter",
                                                                      "RefExit",
                                                                      "RefNextIteration",
                                                                      "NoOp",
                                                                      "Placeholder",
                                                                      "PlaceholderV2",
                                                                      "PlaceholderWithDefault",
                                                                      "_Arg",
                                                                      "_Retval",
                                                                      "CheckNumerics",
                                                                      "PreventGradient",
                                                                      "FakeParam",
                                                                      "If",
                                                                      "While",
                                                                      "StatelessIf",
                                                                      "StatelessWhile",
                                                                      "Case",
                                                                      "StatelessCase",
                                                                      "PartitionedCall",
                                                                      "SymbolicGradient"};
  return ops->contains(op);
}

bool CarriesState(DataType type) {
  return IsRefType(type) || type == DT_RESOURCE || type == DT_VARIANT;
}

}  // namespace

bool IsPure(const Node& node) {
  if (node.IsStateful() || StaysInPlace(node.op())) return false;
  // Ops of old graphs on arrays that they name by strings are not declared as having state.
  if (node.op().starts_with("TensorArray")) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (CarriesState(node.output_type(i))) return false;
  }
  for (const Output& in : node.inputs()) {
    // A value read through a reference changes between two reads.
    if (!in || CarriesState(in.dtype())) return false;
  }
  return true;
}

}  // namespace sluice
