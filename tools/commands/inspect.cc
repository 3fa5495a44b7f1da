#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "graph/format/proto/saved_model.pb.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/graph_facts.h"
#include "tools/commands/graph_file.h"
#include "tools/commands/inspect_checkpoint.h"
#include "tools/commands/json.h"
#include "tools/commands/model.h"
#include "training/checkpoint/saved_model.h"

ABSL_FLAG(std::string, tensor, "", "inspect: print the values of this tensor of a checkpoint");

namespace sluice {
namespace {

constexpr size_t kNamesMax = 20;  // of listed inputs, outputs and ops

std::string MostFirst(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [name, count] : rows) words.push_back(StrCat(name, " ", count));
  if (words.size() > kNamesMax) {
    const size_t more = words.size() - kNamesMax;
    words.resize(kNamesMax);
    words.push_back(StrCat("and ", more, " more"));
  }
  return absl::StrJoin(words, ", ");
}

void Print(std::string_view label, std::string_view text) { fmt::print("{:<12}{}\n", label, text); }

// Prints nothing if there are no lines.
void PrintList(std::string_view label, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size() && i < kNamesMax; ++i) Print(i == 0 ? label : "", lines[i]);
  if (lines.size() > kNamesMax) Print("", StrCat("and ", lines.size() - kNamesMax, " more"));
}

// For example "float [?,3]".
std::string TypeAndShape(const TensorFacts& tensor) {
  return StrCat(DataTypeName(tensor.dtype), " ", tensor.shape.ToString());
}

// For example "x (Placeholder) float [?,3]", one line per node.
std::vector<std::string> Lines(const std::vector<NodeFacts>& nodes) {
  std::vector<std::string> lines;
  for (const NodeFacts& node : nodes) {
    lines.push_back(StrCat(node.name, " (", node.op, ")"));
    if (!node.function.empty()) StrAppend(&lines.back(), " in function ", node.function);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      StrAppend(&lines.back(), i > 0 ? ", " : " ", TypeAndShape(node.outputs[i]));
    }
  }
  return lines;
}

void PrintNodes(std::string_view label, const std::vector<NodeFacts>& nodes) {
  PrintList(label, nodes.empty() ? std::vector<std::string>{"none"} : Lines(nodes));
}

// For example "x = x:0 float [?,3], y = y:0 float [?]".
std::string Text(const std::vector<TensorFacts>& tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* text, const TensorFacts& tensor) {
    StrAppend(text, tensor.key, " = ", tensor.name);
    if (tensor.dtype != DT_INVALID) StrAppend(text, " ", TypeAndShape(tensor));
  });
}

void PrintText(const GraphFacts& facts) {
  if (!facts.tags.empty()) Print("tags", absl::StrJoin(facts.tags, ", "));
  Print("versions", StrCat("producer ", facts.producer, ", min_consumer ", facts.min_consumer));
  Print("nodes", StrCat(facts.nodes));
  Print("edges", StrCat(facts.edges, " data, ", facts.control_edges, " control"));
  Print("functions", StrCat(facts.functions));
  Print("constants", StrCat(facts.constants, ", ", facts.constant_bytes, " bytes"));
  const int64_t unknown = facts.variables_of_unknown_size;
  if (facts.variables >= 0) {
    Print("variables", StrCat(facts.variables, ", ", facts.variable_bytes, " bytes",
                              unknown > 0 ? StrCat(" and ", unknown, " of unknown size") : ""));
  }
  Print("devices", MostFirst(facts.devices));
  Print("ops", MostFirst(facts.ops));
  PrintNodes("inputs", facts.inputs);
  PrintNodes("outputs", facts.outputs);
  PrintList("unknown op", Lines(facts.unknown_ops));
  PrintList("no kernel", Lines(facts.without_kernel));
  if (!facts.collections.empty()) Print("collections", MostFirst(facts.collections));
  for (const auto& [name, signature] : facts.signatures) {
    Print("signature", StrCat(name, ": ", Text(signature.inputs), " -> ", Text(signature.outputs)));
  }
  Print("problem", facts.problem.ok() ? "none" : facts.problem.ToString());
}

// {"tensor": name, "dtype": …, "shape": […]}, as far as these are known.
std::string Json(const TensorFacts& tensor) {
  JsonObject object;
  if (!tensor.name.empty()) object.Add("tensor", JsonString(tensor.name));
  if (tensor.dtype != DT_INVALID) {
    object.Add("dtype", JsonString(DataTypeName(tensor.dtype)))
        .Add("shape", JsonShape(tensor.shape));
  }
  return object.str();
}

std::string Json(const std::vector<NodeFacts>& nodes) {
  std::vector<std::string> rows;
  for (const NodeFacts& node : nodes) {
    JsonObject row;
    row.Add("name", JsonString(node.name)).Add("op", JsonString(node.op));
    if (!node.function.empty()) row.Add("function", JsonString(node.function));
    std::vector<std::string> outputs;
    for (const TensorFacts& output : node.outputs) outputs.push_back(Json(output));
    rows.push_back(row.Add("outputs", JsonArray(outputs)).str());
  }
  return JsonArray(rows);
}

// An object whose keys are those of a signature.
std::string Json(const std::vector<TensorFacts>& tensors) {
  JsonObject object;
  for (const TensorFacts& tensor : tensors) object.Add(tensor.key, Json(tensor));
  return object.str();
}

std::string Json(const GraphFacts& facts) {
  JsonObject signatures;
  for (const auto& [name, signature] : facts.signatures) {
    signatures.Add(name, JsonObject()
                             .Add("inputs", Json(signature.inputs))
                             .Add("outputs", Json(signature.outputs))
                             .str());
  }
  JsonObject object;
  object.Add("tags", JsonStrings(facts.tags))
      .Add("producer", facts.producer)
      .Add("min_consumer", facts.min_consumer)
      .Add("nodes", facts.nodes)
      .Add("edges", facts.edges)
      .Add("control_edges", facts.control_edges)
      .Add("functions", facts.functions)
      .Add("constants", facts.constants)
      .Add("constant_bytes", facts.constant_bytes);
  if (facts.variables >= 0) {
    object.Add("variables", facts.variables)
        .Add("variable_bytes", facts.variable_bytes)
        .Add("variables_of_unknown_size", facts.variables_of_unknown_size);
  }
  return object.Add("devices", JsonCounts(facts.devices))
      .Add("ops", JsonCounts(facts.ops))
      .Add("inputs", Json(facts.inputs))
      .Add("outputs", Json(facts.outputs))
      .Add("unknown_ops", Json(facts.unknown_ops))
      .Add("without_kernel", Json(facts.without_kernel))
      .Add("collections", JsonCounts(facts.collections))
      .Add("signatures", signatures.str())
      .Add("problem", facts.problem.ok() ? "null" : JsonString(facts.problem.ToString()))
      .str();
}

// `label` and `more` are the first line of the text.
void PrintGraphs(std::string_view label, const std::string& path, int64_t bytes,
                 std::string_view more, const std::vector<GraphFacts>& graphs) {
  if (absl::GetFlag(FLAGS_json)) {
    std::vector<std::string> rows;
    for (const GraphFacts& facts : graphs) rows.push_back(Json(facts));
    fmt::print("{}\n", JsonObject()
                           .Add(label, JsonString(path))
                           .Add("bytes", bytes)
                           .Add("graphs", JsonArray(rows))
                           .str());
    return;
  }
  Print(label, StrCat(path, ", ", bytes, " bytes", more));
  for (const GraphFacts& facts : graphs) PrintText(facts);
}

}  // namespace

absl::Status InspectCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return UsageError(StrCat("'inspect' takes one file, got ", arguments.size(), " arguments"));
  }
  const std::string& path = arguments[0];
  if (IsCheckpoint(path)) return InspectCheckpoint(path, absl::GetFlag(FLAGS_tensor));
  if (IsSavedModel(path)) {
    SLUICE_ASSIGN_OR_RETURN(const pb::SavedModel model, ReadSavedModel(path));
    std::vector<GraphFacts> graphs;
    for (const pb::MetaGraphDef& meta : model.meta_graphs()) graphs.push_back(FactsOf(meta));
    PrintGraphs("model", path, static_cast<int64_t>(model.ByteSizeLong()),
                StrCat(", ", graphs.size(), " graphs"), graphs);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(path));
  PrintGraphs("file", path, file.bytes, "", {FactsOf(file.meta)});
  return absl::OkStatus();
}

}  // namespace sluice
