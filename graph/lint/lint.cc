#include "graph/lint/lint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/gradient/made_dense.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/variable_use.h"
#include "graph/lint/step_nodes.h"
#include "graph/strings.h"

namespace sluice {
namespace {

std::string Place(const Node& node) {
  const std::string location = node.location();
  return location.empty() ? node.Describe() : StrCat(node.Describe(), " (", location, ")");
}

struct VariableAccess {
  const Node* node;
  bool is_write;
};

bool Has(const Node& node, VariableUse use) { return node.traits().variable_use == use; }

bool OnlyReads(const Node& node) {
  return Has(node, VariableUse::kReads) || Has(node, VariableUse::kReadsValue);
}

// The variable reads whose values the step fetches but does not use otherwise. Such a read sees all
// writes, unless a dependency orders it before them (docs/variables.md).
NodeSet OnlyFetchedReads(const LintStep& step, const StepNodes& nodes) {
  NodeSet fetched;
  for (const Output& fetch : step.fetches) {
    const std::optional<VariableValue> value = FindVariableValue(fetch);
    if (!value || value->nodes.empty()) continue;
    const bool is_used = std::any_of(value->nodes.begin(), value->nodes.end(), [&](Node* node) {
      return std::any_of(node->uses().begin(), node->uses().end(), [&](const Use& use) {
        return nodes.Contains(use.dst) &&
               std::find(value->nodes.begin(), value->nodes.end(), use.dst) == value->nodes.end();
      });
    });
    if (!is_used) fetched.insert(value->nodes.back());
  }
  return fetched;
}

// Finds the nodes that read and write each variable, by the name of the variable's node, in order
// of creation. A reference is written by a node that takes the reference itself and read by one
// that takes the value. A handle is written by a node unless its op declares that it only reads
// (VariableUse).
std::map<std::string, std::vector<VariableAccess>> VariableAccesses(const LintStep& step,
                                                                    const StepNodes& nodes) {
  const NodeSet only_fetched = OnlyFetchedReads(step, nodes);
  std::map<std::string, std::vector<VariableAccess>> accesses;
  for (const Node* node : nodes.in_order()) {
    if (Has(*node, VariableUse::kInspects) || only_fetched.contains(node)) continue;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output& in = node->input(i);
      const bool is_reference = IsRefType(in.dtype());
      if (!is_reference && in.dtype() != DT_RESOURCE) continue;
      const bool takes_itself = is_reference ? IsRefType(node->input_type(i)) : true;
      if (takes_itself && Has(*node, VariableUse::kForwards)) continue;
      const Node* variable = VariableBehind(in);
      if (variable == nullptr) continue;
      const bool is_write = is_reference ? takes_itself : !OnlyReads(*node);
      accesses[variable->name()].push_back({node, is_write});
    }
  }
  return accesses;
}

// Whether a step may run the two accesses in either order, and one of them writes.
bool AreInRace(const VariableAccess& a, const NodeSet& after_a, const VariableAccess& b,
               const NodeSet& after_b) {
  if (!a.is_write && !b.is_write) return false;
  if (after_a.contains(b.node) || after_b.contains(a.node)) return false;
  return !RunInOppositeBranches(*a.node, *b.node);
}

void FindUnorderedAccesses(const LintStep& step, const StepNodes& nodes,
                           std::vector<LintWarning>* warnings) {
  for (const auto& [variable, accesses] : VariableAccesses(step, nodes)) {
    if (std::none_of(accesses.begin(), accesses.end(), [](const auto& a) { return a.is_write; })) {
      continue;
    }
    std::vector<NodeSet> after;
    for (const VariableAccess& a : accesses) after.push_back(nodes.After(a.node));
    for (size_t i = 0; i < accesses.size(); ++i) {
      for (size_t j = i + 1; j < accesses.size(); ++j) {
        const VariableAccess &a = accesses[i], &b = accesses[j];
        if (!AreInRace(a, after[i], b, after[j])) continue;
        const char* what = a.is_write && b.is_write ? " both write" : " write and read";
        warnings->push_back(
            {LintWarning::Kind::kUnorderedAccess, a.node, b.node,
             StrCat(Place(*a.node), " and ", Place(*b.node), what, " variable '", variable,
                    "' in no order: let one wait for the other by a "
                    "control dependency")});
      }
    }
  }
}

// The only branch (0 or 1) whose nodes use the output of the Switch `node`. -1 if both or none do,
// or if the node has more branches.
int OnlyBranch(const Node& node) {
  if (node.num_outputs() != 2) return -1;
  bool used[2] = {false, false};
  for (const Use& use : node.uses()) used[use.src_output] = true;
  return used[0] == used[1] ? -1 : used[1] ? 1 : 0;
}

// The Switch that alone uses `node` in the step, in one branch. Null if there is none.
const Node* OnlySwitch(const Node& node, const StepNodes& nodes) {
  const Node* entry = nullptr;
  for (const Use& use : node.uses()) {
    if (!nodes.Contains(use.dst)) continue;
    // The use must be the data of a Switch. Its second input is the predicate.
    const bool is_switched = IsSwitch(*use.dst) && use.dst_input == 0 && OnlyBranch(*use.dst) >= 0;
    if (!is_switched || (entry != nullptr && entry != use.dst)) return nullptr;
    entry = use.dst;
  }
  return entry;
}

void FindOutsideOfBranch(const StepNodes& nodes, std::vector<LintWarning>* warnings) {
  for (const Node* node : nodes.in_order()) {
    if (!node->IsStateful() || node->num_outputs() == 0) continue;
    if (IsRefType(node->output_type(0)) || node->output_type(0) == DT_RESOURCE) continue;
    const Node* entry = OnlySwitch(*node, nodes);
    if (entry == nullptr) continue;
    warnings->push_back({LintWarning::Kind::kOutsideOfBranch, node, entry,
                         StrCat(Place(*node), " runs whichever branch is taken, but only the ",
                                OnlyBranch(*entry) == 1 ? "true" : "false", " branch behind ",
                                Place(*entry), " uses it: build it inside that branch")});
  }
}

void FindMadeDense(const StepNodes& nodes, std::vector<LintWarning>* warnings) {
  for (const Node* node : nodes.in_order()) {
    if (!node->AttrOr<bool>(kMadeDenseAttr, false)) continue;
    const PartialShape& shape = node->output_shape(0);
    const DataType dtype = node->output_type(0);
    std::string text =
        StrCat(Place(*node), " makes a dense tensor ", DataTypeName(dtype), shape.ToString());
    if (shape.IsFullyDefined()) {
      const int64_t elements = shape.AsShape().num_elements();
      StrAppend(&text, ", ", elements * static_cast<int64_t>(DataTypeSize(dtype)), " bytes,");
    }
    StrAppend(&text, " of the sparse gradient '", node->input(0).name(), "'");
    warnings->push_back(
        {LintWarning::Kind::kMadeDense, node, node->input(0).node, std::move(text)});
  }
}

}  // namespace

std::vector<LintWarning> Lint(const LintStep& step) {
  std::vector<LintWarning> warnings;
  const StepNodes nodes(step);
  FindUnorderedAccesses(step, nodes, &warnings);
  FindOutsideOfBranch(nodes, &warnings);
  FindMadeDense(nodes, &warnings);
  std::stable_sort(warnings.begin(), warnings.end(),
                   [](const auto& a, const auto& b) { return a.first->id() < b.first->id(); });
  return warnings;
}

}  // namespace sluice
