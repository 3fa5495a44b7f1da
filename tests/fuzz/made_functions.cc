#include "tests/fuzz/made_functions.h"

#include <algorithm>
#include <map>

#include "graph/op/op_def.h"
#include "graph/strings.h"

namespace sluice {
namespace {

constexpr size_t kMaxResults = 4;

pb::DataType Proto(DataType type) { return static_cast<pb::DataType>(type); }

bool HasValues(DataType type) { return type == DT_STRING || IsPlainBytes(type); }

// Turns a graph into the body of a function. Its placeholders become arguments.
class Body {
 public:
  Body(ByteReader& bytes, const std::vector<std::string>& functions, pb::FunctionDef* f)
      : bytes_(bytes), functions_(functions), f_(*f) {}

  void Add(const pb::NodeDef& node, Types* inputs) {
    if (node.op() == "Placeholder") {
      const pb::DataType type = node.attr().at("dtype").type();
      pb::OpDef::ArgDef* arg = f_.mutable_signature()->add_input_arg();
      arg->set_name(node.name());
      arg->set_type(type);
      inputs->push_back(static_cast<DataType>(type));
      tensors_[node.name()] = {node.name(), static_cast<DataType>(type)};
      return;
    }
    pb::NodeDef* copy = f_.add_node_def();
    *copy = node;
    for (std::string& input : *copy->mutable_input()) input = tensors_[input].name;
    for (auto& attr : *copy->mutable_attr()) {
      pb::AttrValue& value = attr.second;
      if (value.has_func()) value.mutable_func()->set_name(AnyFunction());
      if (!value.has_list()) continue;
      for (pb::NameAttrList& f : *value.mutable_list()->mutable_func()) f.set_name(AnyFunction());
    }
    int index = 0;
    for (const ArgDef& arg : OpRegistry::Global().Find(node.op())->outputs) {
      int position = 0;
      for (const DataType type : TypesOf(arg, node)) {
        const Tensor tensor = {StrCat(node.name(), ":", arg.name, ":", position++), BaseType(type)};
        if (index == 0) tensors_[node.name()] = tensor;
        tensors_[StrCat(node.name(), ":", index++)] = tensor;
      }
    }
  }

  void Return(const std::string& fetch, Types* outputs) {
    const Tensor& tensor = tensors_[fetch];
    pb::OpDef::ArgDef* arg = f_.mutable_signature()->add_output_arg();
    arg->set_name(StrCat("o", outputs->size()));
    arg->set_type(Proto(tensor.dtype));
    (*f_.mutable_ret())[arg->name()] = tensor.name;
    outputs->push_back(tensor.dtype);
  }

 private:
  struct Tensor {
    std::string name;  // "arg", or "node:output:index"
    DataType dtype = DT_INVALID;
  };

  const std::string& AnyFunction() { return functions_[bytes_.Below(functions_.size())]; }

  ByteReader& bytes_;
  const std::vector<std::string>& functions_;
  pb::FunctionDef& f_;
  std::map<std::string, Tensor> tensors_;  // by the name in the graph
};

}  // namespace

void SetTypes(pb::NodeDef* node, const std::string& name, const Types& types) {
  pb::AttrValue::ListValue* list = (*node->mutable_attr())[name].mutable_list();
  list->Clear();
  for (const DataType type : types) list->add_type(Proto(type));
}

void SetUnknownShapes(pb::NodeDef* node, const std::string& name, size_t count) {
  pb::AttrValue::ListValue* list = (*node->mutable_attr())[name].mutable_list();
  list->Clear();
  for (; count > 0; --count) list->add_shape()->set_unknown_rank(true);
}

std::vector<MadeFunction> FunctionMaker::Random(size_t count) {
  std::vector<MadeFunction> made(count);
  std::vector<std::string> names = {"F", "P"};
  for (MadeFunction& f : made) names.push_back(f.name = StrCat("f", next_++));
  for (MadeFunction& f : made) AddRandom(&f, names);
  return made;
}

void FunctionMaker::AddRandom(MadeFunction* function, const std::vector<std::string>& names) {
  MadeGraph graph = MakeGraph(bytes_);
  pb::FunctionDefLibrary* library = graph_.def.mutable_library();
  if (library->function_size() == 0) *library = graph.def.library();  // F and P
  pb::FunctionDef* f = library->add_function();
  f->mutable_signature()->set_name(function->name);
  Body body(bytes_, names, f);
  for (const pb::NodeDef& node : graph.def.node()) body.Add(node, &function->inputs);
  for (const std::string& fetch : graph.fetches) {
    if (function->outputs.size() < kMaxResults) body.Return(fetch, &function->outputs);
  }
}

pb::FunctionDef* FunctionMaker::AddFunction(const Types& inputs) {
  pb::FunctionDef* f = graph_.def.mutable_library()->add_function();
  f->mutable_signature()->set_name(StrCat("f", next_++));
  for (size_t i = 0; i < inputs.size(); ++i) {
    pb::OpDef::ArgDef* arg = f->mutable_signature()->add_input_arg();
    arg->set_name(StrCat("a", i));
    arg->set_type(Proto(inputs[i]));
  }
  return f;
}

MadeFunction FunctionMaker::Returning(const Types& inputs, const Types& outputs) {
  pb::FunctionDef* f = AddFunction(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    pb::OpDef::ArgDef* result = f->mutable_signature()->add_output_arg();
    result->set_name(StrCat("o", i));
    result->set_type(Proto(outputs[i]));
    std::vector<std::string> fitting;
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (inputs[j] == outputs[i]) fitting.push_back(StrCat("a", j));
    }
    const size_t choice = bytes_.Below(fitting.size() + 1);
    std::string& from = (*f->mutable_ret())[result->name()];
    if (choice < fitting.size()) {
      from = fitting[choice];
      continue;
    }
    pb::NodeDef* node = f->add_node_def();
    node->set_name(StrCat("c", i));
    node->set_op(HasValues(outputs[i]) ? "Const" : "Placeholder");
    (*node->mutable_attr())["dtype"].set_type(Proto(outputs[i]));
    if (HasValues(outputs[i])) {
      *(*node->mutable_attr())["value"].mutable_tensor() =
          MakeValue(bytes_, Proto(outputs[i]), pb::TensorShapeProto());
    }
    from = StrCat(node->name(), ":output:0");
  }
  return {f->signature().name(), inputs, outputs};
}

MadeFunction FunctionMaker::Dataset(const Types& inputs) {
  pb::FunctionDef* f = AddFunction(inputs);
  pb::OpDef::ArgDef* result = f->mutable_signature()->add_output_arg();
  result->set_name("o0");
  result->set_type(pb::DT_VARIANT);
  pb::NodeDef* node = f->add_node_def();
  node->set_name("d");
  node->set_op(bytes_.Byte() % 2 == 0 ? "TensorDataset" : "TensorSliceDataset");
  for (size_t i = 0; i < inputs.size(); ++i) node->add_input(StrCat("a", i));
  SetTypes(node, "Toutput_types", inputs);
  SetUnknownShapes(node, "output_shapes", inputs.size());
  (*f->mutable_ret())["o0"] = "d:handle:0";
  return {f->signature().name(), inputs, {DT_VARIANT}};
}

pb::NodeDef* FunctionMaker::AddNode(const std::string& op) {
  pb::NodeDef* node = graph_.def.add_node();
  node->set_name(StrCat("m", graph_.def.node_size()));
  node->set_op(op);
  return node;
}

std::string FunctionMaker::AddValue(DataType dtype, const pb::TensorShapeProto& shape) {
  pb::NodeDef* node = AddNode(HasValues(dtype) ? "Const" : "Placeholder");
  (*node->mutable_attr())["dtype"].set_type(Proto(dtype));
  if (HasValues(dtype)) {
    *(*node->mutable_attr())["value"].mutable_tensor() = MakeValue(bytes_, Proto(dtype), shape);
  }
  return node->name();
}

std::vector<std::string> FunctionMaker::AddValues(const Types& types) {
  std::vector<std::string> names;
  pb::TensorShapeProto shape;
  for (const DataType type : types) {
    const uint8_t kind = bytes_.Byte();
    if (kind % 2 == 0) {  // otherwise that of the value before
      shape.Clear();
      for (int rank = (kind >> 1) % 4; rank > 0; --rank) {
        shape.add_dim()->set_size(static_cast<int64_t>(bytes_.Below(4)));
      }
    }
    names.push_back(AddValue(type, shape));
  }
  return names;
}

}  // namespace sluice
