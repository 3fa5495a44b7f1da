#include "ops/builders/op_function.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "graph/strings.h"
#include "ops/builders/literal.h"

namespace sluice {
namespace {

bool Uses(const ArgDef& arg, const std::string& attr) {
  return arg.type_attr == attr || arg.number_attr == attr || arg.type_list_attr == attr;
}
// Returns whether NodeBuilder infers the attribute from the inputs, so that callers do not pass it.
bool FollowsFromInputs(const OpDef& op, const AttrDef& attr) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const ArgDef& in) { return Uses(in, attr.name); });
}
bool IsRequired(const OpDef& op, const AttrDef& attr) {
  return !attr.default_value && !FollowsFromInputs(op, attr);
}
bool IsOptional(const OpDef& op, const AttrDef& attr) {
  return attr.default_value && !FollowsFromInputs(op, attr);
}

// Returns a condition that omits an attribute which is not set. Only tensors need one: a default
// tensor cannot be written as the default of a member, so an uninitialised member stands for it.
std::string IfSet(const AttrDef& attr) {
  if (attr.kind != AttrKind::kTensor || attr.is_list) return "";
  return StrCat("if (attrs.", Identifier(attr.name), ".IsInitialized()) ");
}

// Returns whether the function has a parameter for the graph: all inputs may be empty lists, so the
// graph cannot be taken from an input.
bool TakesGraph(const OpDef& op) {
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& in) {
    const std::string& length = in.number_attr.empty() ? in.type_list_attr : in.number_attr;
    if (length.empty()) return false;
    return op.FindAttr(length)->minimum.value_or(0) < 1;
  });
}

std::string ResultType(const OpDef& op) {
  if (op.outputs.empty()) return "Operation";
  if (op.outputs.size() > 1) return op.name + "Outputs";
  return op.outputs[0].is_list() ? "OutputList" : "Output";
}

std::string Parameters(const OpDef& op, bool with_defaults) {
  std::vector<std::string> parameters;
  if (TakesGraph(op)) parameters.push_back("Graph& graph");
  for (const ArgDef& in : op.inputs) {
    parameters.push_back(
        StrCat(in.is_list() ? "const OutputList& " : "Output ", Identifier(in.name)));
  }
  for (const AttrDef& attr : op.attrs) {
    if (!IsRequired(op, attr)) continue;
    parameters.push_back(StrCat(ParameterType(attr), " ", Identifier(attr.name)));
  }
  parameters.push_back(StrCat("const ", op.name, "Attrs& attrs", with_defaults ? " = {}" : ""));
  parameters.push_back(StrCat("At at", with_defaults ? " = At::current()" : ""));
  return absl::StrJoin(parameters, ", ");
}

std::string Comment(const std::string& text) {
  std::string comment;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == text.npos) end = text.size();
    const std::string line = text.substr(begin, end - begin);
    StrAppend(&comment, line.empty() ? "//" : "// ", line, "\n");
    begin = end + 1;
  }
  return comment;
}

std::string AttrsStruct(const OpDef& op) {
  std::string text = StrCat("struct ", op.name, "Attrs {\n  std::string_view name = \"\";\n");
  for (const AttrDef& attr : op.attrs) {
    if (!IsOptional(op, attr)) continue;
    const std::string init = Initialiser(attr, *attr.default_value);
    StrAppend(&text, "  ", MemberType(attr), " ", Identifier(attr.name), init.empty() ? "{}" : init,
              ";\n");
  }
  return text + "};\n";
}

std::string OutputsStruct(const OpDef& op) {
  if (op.outputs.size() < 2) return "";
  std::string text = StrCat("struct ", op.name, "Outputs {\n  Operation operation;\n");
  for (const ArgDef& out : op.outputs) {
    StrAppend(&text, out.is_list() ? "  OutputList " : "  Output ", Identifier(out.name), ";\n");
  }
  return text + "};\n";
}

// Returns an expression for the length of a list output. A failed op returns that many invalid
// handles, so that a program may index the result before it checks the error.
std::string ListLength(const OpDef& op, const ArgDef& out) {
  const std::string& attr = out.number_attr.empty() ? out.type_list_attr : out.number_attr;
  for (const ArgDef& in : op.inputs) {
    if (in.number_attr == attr || in.type_list_attr == attr) return Identifier(in.name) + ".size()";
  }
  const AttrDef* def = op.FindAttr(attr);
  const std::string value = (IsRequired(op, *def) ? "" : "attrs.") + Identifier(attr);
  return out.number_attr.empty() ? value + ".size()" : value;
}

std::string OneOutput(const OpDef& op, size_t i) {
  const ArgDef& out = op.outputs[i];
  if (out.is_list()) return StrCat("ListOutput(node, ", i, ", ", ListLength(op, out), ")");
  return StrCat("SingleOutput(node, ", i, ")");
}

std::string Return(const OpDef& op) {
  if (op.outputs.empty()) return "  return Operation(node);\n";
  if (op.outputs.size() == 1) return StrCat("  return ", OneOutput(op, 0), ";\n");
  std::string text = "  return {Operation(node)";
  for (size_t i = 0; i < op.outputs.size(); ++i) StrAppend(&text, ", ", OneOutput(op, i));
  return text + "};\n";
}

std::string GraphArgument(const OpDef& op) {
  if (TakesGraph(op)) return "&graph";
  std::vector<std::string> single, lists;
  for (const ArgDef& in : op.inputs) {
    (in.is_list() ? lists : single).push_back("&" + Identifier(in.name));
  }
  return StrCat("GraphOf({", absl::StrJoin(single, ", "), "}, {", absl::StrJoin(lists, ", "), "})");
}

}  // namespace

bool HasBuilder(const OpDef& op) { return !op.hidden && !op.name.starts_with('_'); }

std::string DeclarationText(const OpDef& op) {
  return StrCat(AttrsStruct(op), OutputsStruct(op), Comment(op.doc), ResultType(op), " ", op.name,
                "(", Parameters(op, true), ");\n");
}

std::string DefinitionText(const OpDef& op) {
  std::string text = StrCat(ResultType(op), " ", op.name, "(", Parameters(op, false), ") {\n",
                            "  NodeBuilder builder(", GraphArgument(op), ", \"", op.name,
                            "\", at);\n  builder.Name(attrs.name);\n");
  for (const ArgDef& in : op.inputs) {
    StrAppend(&text, "  builder.Input(", Identifier(in.name), ");\n");
  }
  for (const AttrDef& attr : op.attrs) {
    const std::string id = Identifier(attr.name);
    if (IsRequired(op, attr)) {
      StrAppend(&text, "  builder.Attr(\"", attr.name, "\", ", AsAttrValue(attr, id), ");\n");
    } else if (IsOptional(op, attr)) {
      StrAppend(&text, "  ", IfSet(attr), "builder.Attr(\"", attr.name, "\", attrs.", id, ");\n");
    }
  }
  return StrCat(text, "  Node* node = builder.Finish();\n", Return(op), "}\n");
}

}  // namespace sluice
