#include "graph/format/imported_functions.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "graph/format/deterministic_bytes.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns equal bytes for functions that differ only in the order of nodes, in the order of the
// entries of maps, or in the debug information on where nodes were built.
std::string Canonical(pb::FunctionDef function) {
  auto* nodes = function.mutable_node_def();
  for (pb::NodeDef& node : *nodes) node.clear_experimental_debug_info();
  std::sort(nodes->pointer_begin(), nodes->pointer_end(),
            [](const pb::NodeDef* a, const pb::NodeDef* b) { return a->name() < b->name(); });
  return DeterministicBytes(function);
}

using ArgDefs = google::protobuf::RepeatedPtrField<pb::OpDef::ArgDef>;

// The types of the tensors of all arguments.
absl::StatusOr<std::vector<DataType>> TypesOf(const ArgDefs& args, const AttrMap& attrs,
                                              const std::string& function) {
  std::vector<DataType> types;
  const auto missing = [&](const std::string& attr) {
    return InvalidArgument("NodeDef missing attr '", attr, "' from Op<name=", function, ">");
  };
  for (const pb::OpDef::ArgDef& arg : args) {
    if (!arg.type_list_attr().empty()) {
      const auto* list = FindAttr<std::vector<DataType>>(attrs, arg.type_list_attr());
      if (list == nullptr) return missing(arg.type_list_attr());
      types.insert(types.end(), list->begin(), list->end());
      continue;
    }
    auto type = static_cast<DataType>(arg.type());
    if (!arg.type_attr().empty()) {
      const auto* given = FindAttr<DataType>(attrs, arg.type_attr());
      if (given == nullptr) return missing(arg.type_attr());
      type = *given;
    }
    int64_t count = 1;
    if (!arg.number_attr().empty()) {
      const auto* given = FindAttr<int64_t>(attrs, arg.number_attr());
      if (given == nullptr) return missing(arg.number_attr());
      count = *given;
    }
    SLUICE_INVALID_IF(count < 0 || count > std::numeric_limits<uint16_t>::max(), "function '",
                      function, "': attr '", arg.number_attr(), "' gives ", count, " tensors");
    types.insert(types.end(), static_cast<size_t>(count), type);
  }
  return types;
}

}  // namespace

absl::Status ImportedFunctions::Merge(const std::string& library,
                                      const pb::FunctionDefLibrary& added) {
  if (!merged_.ParseFromString(library)) {
    return absl::DataLossError("the graph's function library is damaged");
  }
  for (const auto& f : merged_.function()) functions_[f.signature().name()] = &f;
  for (const auto& g : merged_.gradient()) gradients_[g.function_name()] = g.gradient_func();
  for (const auto& f : added.function()) SLUICE_RETURN_IF_ERROR(AddFunction(f));
  for (const auto& g : added.gradient()) SLUICE_RETURN_IF_ERROR(AddGradient(g));
  return absl::OkStatus();
}

absl::Status ImportedFunctions::AddFunction(const pb::FunctionDef& function) {
  const std::string& name = function.signature().name();
  auto known = functions_.find(name);
  if (known == functions_.end()) {
    SLUICE_INVALID_IF(OpRegistry::Global().Find(name) != nullptr, "Cannot add function '", name,
                      "' because an op with the same name already exists.");
    pb::FunctionDef* made = merged_.add_function();
    *made = function;
    functions_.emplace(name, made);
    return absl::OkStatus();
  }
  const bool is_same = known->second->SerializeAsString() == function.SerializeAsString() ||
                       Canonical(*known->second) == Canonical(function);
  SLUICE_INVALID_IF(!is_same, "Cannot add function '", name,
                    "' because a different function with the same name already exists.");
  return absl::OkStatus();
}

absl::Status ImportedFunctions::AddGradient(const pb::GradientDef& gradient) {
  auto [known, is_new] = gradients_.emplace(gradient.function_name(), gradient.gradient_func());
  SLUICE_INVALID_IF(known->second != gradient.gradient_func(), "Cannot assign gradient function '",
                    gradient.gradient_func(), "' to '", gradient.function_name(),
                    "' because it already has gradient function '", known->second, "'");
  if (is_new) *merged_.add_gradient() = gradient;
  return absl::OkStatus();
}

const pb::FunctionDef* ImportedFunctions::Find(const std::string& name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

absl::Status CallByAttribute(const pb::FunctionDef& function, NodeSpec* node) {
  const pb::OpDef& signature = function.signature();
  SLUICE_ASSIGN_OR_RETURN(std::vector<DataType> in,
                          TypesOf(signature.input_arg(), node->attrs, signature.name()));
  SLUICE_ASSIGN_OR_RETURN(std::vector<DataType> out,
                          TypesOf(signature.output_arg(), node->attrs, signature.name()));
  auto callee = std::make_shared<FunctionRef>();
  callee->name = signature.name();
  AttrMap attrs;
  for (auto& [name, value] : node->attrs) {
    AttrMap& owner = name.starts_with('_') ? attrs : callee->attrs;
    owner.emplace(name, std::move(value));
  }
  attrs.emplace("Tin", std::move(in));
  attrs.emplace("Tout", std::move(out));
  attrs.emplace("f", FunctionAttr(std::move(callee)));
  node->attrs = std::move(attrs);
  node->op = signature.is_stateful() ? "StatefulPartitionedCall" : "PartitionedCall";
  return absl::OkStatus();
}

}  // namespace sluice
