// Arbitrary functions are called or rejected: bodies of arbitrary ops that call each other, also
// without end, in every op that takes functions.
//
// The first byte of an input selects the meaning of the others: a FunctionDefLibrary whose
// functions are all called, or choices that build functions and a call of one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/strings.h"
#include "tests/fuzz/made_functions.h"
#include "tests/fuzz/run_graph.h"

namespace sluice {
namespace {

constexpr int kMaxCalls = 4;
constexpr int kMaxResults = 8;

// Adds a call of one of the functions.
class Caller {
 public:
  Caller(ByteReader& bytes, FunctionMaker& maker, std::vector<MadeFunction> functions,
         MadeGraph* graph)
      : bytes_(bytes), maker_(maker), functions_(std::move(functions)), graph_(*graph) {}

  void Add() {
    f_ = functions_[bytes_.Below(functions_.size())];
    switch (bytes_.Below(8)) {
      case 0:
        return Finish(Begin(f_.name, f_.inputs), f_.outputs);
      case 1:
        return Call(bytes_.Byte() % 2 == 0 ? "PartitionedCall" : "StatefulPartitionedCall");
      case 2:
        return If();
      case 3:
        return Case();
      case 4:
        return While();
      case 5:
        return Gradient();
      case 6:
        return Map();
      default:
        return Remote();
    }
  }

 private:
  // A node with values of these types as inputs.
  pb::NodeDef* Begin(const std::string& op, const Types& inputs) {
    std::vector<std::string> values = maker_.AddValues(inputs);
    pb::NodeDef* node = maker_.AddNode(op);
    for (const std::string& value : values) node->add_input(value);
    return node;
  }
  // The same with one more input before the others, of type `first`.
  pb::NodeDef* BeginAfter(const std::string& op, DataType first, const Types& inputs) {
    Types all = {first};
    all.insert(all.end(), inputs.begin(), inputs.end());
    return Begin(op, all);
  }
  void Finish(pb::NodeDef* node, const Types& outputs) {
    if (outputs.empty()) graph_.targets.push_back(node->name());
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph_.fetches.push_back(StrCat(node->name(), ":", i));
    }
  }
  void SetInOut(pb::NodeDef* node) {
    SetTypes(node, "Tin", f_.inputs);
    SetTypes(node, "Tout", f_.outputs);
  }
  // Another function of the same types.
  MadeFunction Another() {
    return bytes_.Byte() % 4 == 0 ? f_ : maker_.Returning(f_.inputs, f_.outputs);
  }

  void Call(const std::string& op) {
    pb::NodeDef* node = Begin(op, f_.inputs);
    SetInOut(node);
    SetFunction(node, "f", f_);
    Finish(node, f_.outputs);
  }

  void If() {
    const DataType condition = bytes_.Byte() % 4 == 0 ? DT_FLOAT : DT_BOOL;
    pb::NodeDef* node =
        BeginAfter(bytes_.Byte() % 2 == 0 ? "If" : "StatelessIf", condition, f_.inputs);
    (*node->mutable_attr())["Tcond"].set_type(static_cast<pb::DataType>(condition));
    SetInOut(node);
    SetFunction(node, "then_branch", f_);
    SetFunction(node, "else_branch", Another());
    Finish(node, f_.outputs);
  }

  void Case() {
    pb::NodeDef* node =
        BeginAfter(bytes_.Byte() % 2 == 0 ? "Case" : "StatelessCase", DT_INT32, f_.inputs);
    SetInOut(node);
    pb::AttrValue::ListValue* branches = (*node->mutable_attr())["branches"].mutable_list();
    for (size_t n = 1 + bytes_.Below(4); n > 0; --n) branches->add_func()->set_name(Another().name);
    Finish(node, f_.outputs);
  }

  // A loop with the function as its body, or with one that returns its arguments.
  void While() {
    // Every other while loop never ends, so most loops count.
    const bool is_for = bytes_.Byte() % 3 != 0;
    Types types = f_.inputs;
    MadeFunction body = f_;
    if (f_.outputs != f_.inputs) body = maker_.Returning(types, types);
    if (is_for) {
      Types arguments = {DT_INT32};
      arguments.insert(arguments.end(), types.begin(), types.end());
      body = maker_.Returning(arguments, types);
      Types inputs = {DT_INT32, DT_INT32, DT_INT32};
      inputs.insert(inputs.end(), types.begin(), types.end());
      pb::NodeDef* node = Begin("For", inputs);
      SetTypes(node, "T", types);
      SetFunction(node, "body", body);
      return Finish(node, types);
    }
    pb::NodeDef* node = Begin(bytes_.Byte() % 2 == 0 ? "While" : "StatelessWhile", types);
    SetTypes(node, "T", types);
    SetFunction(node, "cond", maker_.Returning(types, {DT_BOOL}));
    SetFunction(node, "body", body);
    (*node->mutable_attr())["parallel_iterations"].set_i(1 + bytes_.Byte() % 3);
    if (types.size() > 1) types.resize(1);  // fetched once, as it may take the whole time
    Finish(node, types);
  }

  void Gradient() {
    Types inputs = f_.inputs;
    inputs.insert(inputs.end(), f_.outputs.begin(), f_.outputs.end());
    pb::NodeDef* node = Begin("SymbolicGradient", inputs);
    SetTypes(node, "Tin", inputs);
    SetTypes(node, "Tout", f_.inputs);
    SetFunction(node, "f", f_);
    Finish(node, f_.inputs);
  }

  void Map() {
    pb::NodeDef* node = Begin("MapDefun", f_.inputs);
    SetTypes(node, "Targuments", f_.inputs);
    SetTypes(node, "Tcaptured", {});
    SetTypes(node, "output_types", f_.outputs);
    SetUnknownShapes(node, "output_shapes", f_.outputs.size());
    SetFunction(node, "f", f_);
    Finish(node, f_.outputs);
  }

  void Remote() {
    pb::NodeDef* node = BeginAfter("RemoteCall", DT_STRING, f_.inputs);
    SetInOut(node);
    SetFunction(node, "f", f_);
    Finish(node, f_.outputs);
  }

  ByteReader& bytes_;
  FunctionMaker& maker_;
  const std::vector<MadeFunction> functions_;
  MadeGraph& graph_;
  MadeFunction f_;  // the one that is called
};

// Calls functions by their names, with values of their declared types.
MadeGraph CallAll(ByteReader& bytes) {
  MadeGraph graph;
  ByteReader values(bytes.Take(bytes.Byte()));
  FunctionMaker maker(values, &graph);
  const std::string library(bytes.Take(SIZE_MAX));
  if (!graph.def.mutable_library()->ParseFromString(library)) return graph;
  for (const pb::FunctionDef& f : graph.def.library().function()) {
    for (const pb::NodeDef& node : f.node_def()) {
      if (WritesFiles(node.op())) return MadeGraph();
    }
  }
  for (int i = 0; i < std::min(graph.def.library().function_size(), kMaxCalls); ++i) {
    const pb::OpDef& signature = graph.def.library().function(i).signature();
    Types types;
    for (const pb::OpDef::ArgDef& arg : signature.input_arg()) {
      const bool is_known = arg.type() > pb::DT_INVALID && arg.type() <= pb::DT_UINT64;
      types.push_back(is_known ? static_cast<DataType>(arg.type()) : DT_FLOAT);
    }
    if (types.size() > kMaxResults) continue;
    const std::vector<std::string> inputs = maker.AddValues(types);
    pb::NodeDef* call = maker.AddNode(signature.name());
    for (const std::string& input : inputs) call->add_input(input);
    for (const pb::OpDef::AttrDef& attr : signature.attr()) {
      if (attr.type() == "type") (*call->mutable_attr())[attr.name()].set_type(pb::DT_FLOAT);
    }
    for (int n = 0; n < std::min(signature.output_arg_size(), kMaxResults); ++n) {
      graph.fetches.push_back(StrCat(call->name(), ":", n));
    }
    if (signature.output_arg_size() == 0) graph.targets.push_back(call->name());
  }
  return graph;
}

MadeGraph CallOne(ByteReader& bytes) {
  MadeGraph graph;
  FunctionMaker maker(bytes, &graph);
  std::vector<MadeFunction> functions = maker.Random(1 + bytes.Below(3));
  Caller(bytes, maker, std::move(functions), &graph).Add();
  return graph;
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::ByteReader bytes({reinterpret_cast<const char*>(data), size});
  const sluice::MadeGraph graph =
      bytes.Byte() % 4 == 0 ? sluice::CallAll(bytes) : sluice::CallOne(bytes);
  if (graph.def.node_size() > 0) sluice::RunMade(graph);
  return 0;
}
