#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "executor/kernel/kernel.h"
#include "graph/op/op_def.h"
#include "graph/status.h"
#include "tools/commands/command.h"

ABSL_FLAG(bool, json, false, "ops: one JSON object a line");

namespace sluice {
namespace {

constexpr TypeSet kAnyType = NumberTypes() | TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT};

// The types of one kernel: what it says of the op's first type attribute, else what that attribute
// allows.
TypeSet TypesOf(const KernelDef& kernel, const AttrDef& attr) {
  TypeSet types;
  for (const auto& [name, allowed] : kernel.constraints) {
    if (name == attr.name) types = types | allowed;
  }
  if (!types.empty()) return types;
  return attr.allowed_types.empty() ? kAnyType : attr.allowed_types;
}

// Names of the types that some kernel of the op takes; {"*"} where the declaration leaves no
// choice.
std::vector<std::string> KernelTypes(const OpDef& op) {
  const std::vector<KernelDef>& kernels = KernelRegistry::Global().For(op.name);
  if (kernels.empty()) return {};
  const auto attr = std::find_if(op.attrs.begin(), op.attrs.end(),
                                 [](const AttrDef& a) { return a.kind == AttrKind::kType; });
  if (attr == op.attrs.end()) return {"*"};
  TypeSet types;
  for (const KernelDef& kernel : kernels) types = types | TypesOf(kernel, *attr);
  std::vector<std::string> names;
  for (const DataType type : types.list()) names.push_back(DataTypeName(type));
  return names;
}

// Names come from declarations: letters, digits, underscores.
std::string JsonList(const std::vector<std::string>& names) {
  return names.empty() ? "[]" : StrCat("[\"", absl::StrJoin(names, "\", \""), "\"]");
}

template <typename T>
std::vector<std::string> NamesOf(const std::vector<T>& things) {
  std::vector<std::string> names;
  for (const T& thing : things) names.push_back(thing.name);
  return names;
}

void PrintJson(const OpDef& op) {
  const std::string row = StrCat(
      "{\"op\": \"", op.name, "\", \"inputs\": ", JsonList(NamesOf(op.inputs)),
      ", \"attrs\": ", JsonList(NamesOf(op.attrs)), ", \"kernels\": ", JsonList(KernelTypes(op)),
      ", \"gradient\": ", op.gradient ? "true" : "false", "}\n");
  std::fputs(row.c_str(), stdout);
}

void PrintText(const OpDef& op) {
  const std::string row = StrCat(
      op.name, "(", absl::StrJoin(NamesOf(op.inputs), ", "), ") -> (",
      absl::StrJoin(NamesOf(op.outputs), ", "), ")  attrs: ", absl::StrJoin(NamesOf(op.attrs), " "),
      "  kernels: ", absl::StrJoin(KernelTypes(op), " "), op.gradient ? "  gradient" : "", "\n");
  std::fputs(row.c_str(), stdout);
}

}  // namespace

absl::Status OpsCommand(const Arguments& arguments) {
  if (!arguments.empty())
    return InvalidArgument("'ops' takes no argument, got '", arguments[0], "'");
  SLUICE_RETURN_IF_ERROR(OpRegistry::Global().status());
  for (const OpDef* op : OpRegistry::Global().All()) {
    absl::GetFlag(FLAGS_json) ? PrintJson(*op) : PrintText(*op);
  }
  return absl::OkStatus();
}

}  // namespace sluice
