#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/kernel/kernel.h"
#include "graph/op/op_def.h"
#include "graph/status.h"
#include "ops/builders/op_function.h"
#include "tools/commands/command.h"
#include "tools/commands/json.h"
#include "tools/commands/ops_against.h"

ABSL_FLAG(bool, markdown, false, "ops: a page with the documentation of each op");
ABSL_FLAG(std::string, against, "", "ops: list the ops of this JSON file that are missing");

namespace sluice {
namespace {

constexpr TypeSet kAnyType = NumberTypes() | TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT};

// The types of one kernel: those of its constraint on the op's first type attribute, or all types
// that the attribute allows.
TypeSet TypesOf(const KernelDef& kernel, const AttrDef& attr) {
  TypeSet types;
  for (const auto& [name, allowed] : kernel.constraints) {
    if (name == attr.name) types = types | allowed;
  }
  if (!types.empty()) return types;
  return attr.allowed_types.empty() ? kAnyType : attr.allowed_types;
}

// Names of the types that the op's kernels support; {"*"} if the declaration leaves no choice.
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

template <typename T>
std::vector<std::string> NamesOf(const std::vector<T>& things) {
  std::vector<std::string> names;
  for (const T& thing : things) names.push_back(thing.name);
  return names;
}

void PrintJson(const OpDef& op) {
  const std::string row = JsonObject()
                              .Add("op", JsonString(op.name))
                              .Add("inputs", JsonStrings(NamesOf(op.inputs)))
                              .Add("attrs", JsonStrings(NamesOf(op.attrs)))
                              .Add("kernels", JsonStrings(KernelTypes(op)))
                              .Add("gradient", op.gradient ? "true" : "false")
                              .str();
  std::puts(row.c_str());
}

void PrintText(const OpDef& op) {
  const std::string row = StrCat(
      op.name, "(", absl::StrJoin(NamesOf(op.inputs), ", "), ") -> (",
      absl::StrJoin(NamesOf(op.outputs), ", "), ")  attrs: ", absl::StrJoin(NamesOf(op.attrs), " "),
      "  kernels: ", absl::StrJoin(KernelTypes(op), " "), op.gradient ? "  gradient" : "", "\n");
  std::fputs(row.c_str(), stdout);
}

// For example "x: T", "values: N*T", "y: int32".
std::string Signature(const std::vector<ArgDef>& args) {
  std::vector<std::string> words;
  for (const ArgDef& arg : args) {
    std::string type = arg.type != DT_INVALID   ? DataTypeName(arg.type)
                       : !arg.type_attr.empty() ? arg.type_attr
                                                : arg.type_list_attr;
    if (!arg.number_attr.empty()) type = StrCat(arg.number_attr, "*", type);
    words.push_back(StrCat(arg.name, ": ", arg.is_ref ? "Ref(" : "", type, arg.is_ref ? ")" : ""));
  }
  return absl::StrJoin(words, ", ");
}

// The text, with characters that Markdown would interpret outside of `code` escaped.
std::string EscapedText(std::string_view text) {
  std::string escaped;
  bool in_code = false;
  for (const char c : text) {
    if (c == '`') in_code = !in_code;
    if (!in_code && c == '<') {
      escaped += "&lt;";
      continue;
    }
    const bool in_word = !escaped.empty() && absl::ascii_isalnum(escaped.back());
    if (!in_code && (c == '*' || (c == '_' && !in_word))) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// For example " = `SAME`, one of `SAME`, `VALID`".
std::string ValuesText(const AttrDef& attr) {
  std::string text;
  if (attr.default_value) StrAppend(&text, " = `", AttrToString(*attr.default_value), "`");
  if (attr.minimum) StrAppend(&text, ", at least ", *attr.minimum);
  std::vector<std::string> allowed = attr.allowed_strings;
  for (const DataType type : attr.allowed_types.list()) allowed.push_back(DataTypeName(type));
  if (!allowed.empty()) StrAppend(&text, ", one of `", absl::StrJoin(allowed, "`, `"), "`");
  return text;
}

// The C++ function that adds the op to a graph, without the comment that repeats the description.
std::string BuilderText(const OpDef& op) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(DeclarationText(op), '\n')) {
    if (!line.empty() && !absl::StartsWith(line, "//")) StrAppend(&text, line, "\n");
  }
  return StrCat("```cpp\n", text, "```\n\n");
}

std::string TypesText(const OpDef& op) {
  const std::vector<std::string> types = KernelTypes(op);
  if (types.empty()) return "no kernel";
  return types[0] == "*" ? "no choice" : absl::StrJoin(types, ", ");
}

const char* GradientText(const OpDef& op) {
  if (op.gradient) return "Gradient: defined.";
  return op.not_differentiable ? "Gradient: none, as if the inputs were constants."
                               : "Gradient: not defined. Gradients through the op are an error.";
}

void PrintMarkdown(const OpDef& op) {
  std::string text = StrCat("\n## ", op.name, "\n\n", EscapedText(op.doc), "\n\n    ", op.name, "(",
                            Signature(op.inputs), ") -> (", Signature(op.outputs), ")\n\n");
  if (HasBuilder(op)) StrAppend(&text, BuilderText(op));
  if (!op.attrs.empty()) StrAppend(&text, "Attributes:\n\n");
  for (const AttrDef& attr : op.attrs) {
    StrAppend(&text, "- `", attr.name, "`: ", attr.KindName(), ValuesText(attr), "\n");
  }
  StrAppend(&text, "\nTypes with a kernel: ", TypesText(op), ".\n\n", GradientText(op),
            "\n\nDeclared in `", op.file, "`.\n");
  if (op.deprecated_at > 0) StrAppend(&text, "\nDeprecated: ", EscapedText(op.deprecation), "\n");
  std::fputs(text.c_str(), stdout);
}

}  // namespace

absl::Status OpsCommand(const Arguments& arguments) {
  if (!arguments.empty()) {
    return UsageError(StrCat("'ops' takes no argument, got '", arguments[0], "'"));
  }
  SLUICE_RETURN_IF_ERROR(OpRegistry::Global().status());
  if (const std::string path = absl::GetFlag(FLAGS_against); !path.empty()) {
    return PrintOpsAgainst(path);
  }
  const bool json = absl::GetFlag(FLAGS_json);
  const bool markdown = absl::GetFlag(FLAGS_markdown);
  if (markdown) std::puts("# All ops\n\nWritten by `sluice ops --markdown`.");
  for (const OpDef* op : OpRegistry::Global().All()) {
    json ? PrintJson(*op) : markdown ? PrintMarkdown(*op) : PrintText(*op);
  }
  return absl::OkStatus();
}

}  // namespace sluice
