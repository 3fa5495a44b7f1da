// Arbitrary pipelines of datasets give elements or an error. A pipeline has a source, some ops that
// take a dataset, and a reader. Its functions and arguments mostly fit.
//
// An input is a list of choices.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/hash.h"
#include "graph/op/op_def.h"
#include "graph/strings.h"
#include "tests/fuzz/made_functions.h"
#include "tests/fuzz/run_graph.h"

namespace sluice {
namespace {

constexpr size_t kMaxTransforms = 5;
constexpr int kReads = 2;

// Whether the op takes a dataset and returns one.
bool TransformsDataset(const OpDef& def) {
  if (!def.file.starts_with("ops/data/") || WritesFiles(def.name)) return false;
  const auto is_dataset = [](const ArgDef& arg) { return arg.type == DT_VARIANT; };
  return def.outputs.size() == 1 && is_dataset(def.outputs[0]) && !def.inputs.empty() &&
         std::any_of(def.inputs.begin(), def.inputs.end(), is_dataset);
}

// Selects an op by a hash of its name, so that inputs keep their meaning when ops are added or
// removed.
const OpDef& TransformAt(uint16_t number) {
  static const auto& ops = *[] {
    auto* found = new std::vector<std::pair<uint16_t, const OpDef*>>;
    for (const OpDef* def : OpRegistry::Global().All()) {
      if (TransformsDataset(*def))
        found->emplace_back(static_cast<uint16_t>(Hash64(def->name)), def);
    }
    std::sort(found->begin(), found->end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second->name) < std::pair(b.first, b.second->name);
    });
    return found;
  }();
  const auto at = std::lower_bound(ops.begin(), ops.end(), number,
                                   [](const auto& op, uint16_t n) { return op.first < n; });
  return *(at == ops.end() ? ops.front() : *at).second;
}

Types Joined(Types a, const Types& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Pipeline {
 public:
  explicit Pipeline(ByteReader& bytes) : bytes_(bytes), maker_(bytes, &graph_) {}

  MadeGraph Make() {
    functions_ = maker_.Random(1 + bytes_.Below(2));
    AddSource();
    for (size_t n = bytes_.Below(kMaxTransforms + 1); n > 0; --n) {
      const uint16_t number = bytes_.Byte();
      AddTransform(TransformAt(static_cast<uint16_t>(number | bytes_.Byte() << 8)));
    }
    AddReader();
    return std::move(graph_);
  }

 private:
  std::string Scalar(DataType dtype) { return maker_.AddValue(dtype, pb::TensorShapeProto()); }
  std::string Vector(DataType dtype) {
    pb::TensorShapeProto shape;
    shape.add_dim()->set_size(static_cast<int64_t>(bytes_.Below(4)));
    return maker_.AddValue(dtype, shape);
  }

  void SetDataset(pb::NodeDef* node, Types types) {
    before_ = std::exchange(dataset_, node->name());
    types_ = std::move(types);
  }

  void AddSource() {
    if (bytes_.Byte() % 3 == 0) {
      const std::string inputs[] = {Scalar(DT_INT64), Scalar(DT_INT64), Scalar(DT_INT64)};
      pb::NodeDef* node = maker_.AddNode("RangeDataset");
      for (const std::string& input : inputs) node->add_input(input);
      SetTypes(node, "output_types", {DT_INT64});
      SetUnknownShapes(node, "output_shapes", 1);
      return SetDataset(node, {DT_INT64});
    }
    // The elements are arguments of a function, so that it can be mapped over them.
    Types types = functions_[0].inputs;
    if (types.empty()) types = {DT_FLOAT};
    const std::vector<std::string> values = maker_.AddValues(types);
    pb::NodeDef* node =
        maker_.AddNode(bytes_.Byte() % 2 == 0 ? "TensorDataset" : "TensorSliceDataset");
    for (const std::string& value : values) node->add_input(value);
    SetTypes(node, "Toutput_types", types);
    SetUnknownShapes(node, "output_shapes", types.size());
    SetDataset(node, std::move(types));
  }

  // The function of attribute `f`, and the types of the op's elements.
  MadeFunction Main(const OpDef& def, Types* elements) {
    if (def.name.find("FlatMap") != std::string::npos ||
        def.name.find("Interleave") != std::string::npos) {
      return maker_.Dataset(types_);
    }
    if (def.FindAttr("Tstate") != nullptr) {
      return maker_.Returning(Joined(state_, types_), Joined(state_, types_));
    }
    for (const MadeFunction& f : functions_) {
      if (f.inputs != types_ || f.outputs.empty() || bytes_.Byte() % 8 == 0) continue;
      *elements = f.outputs;
      return f;
    }
    return maker_.Returning(types_, types_);
  }

  MadeFunction Function(const OpDef& def, const std::string& name, Types* elements) {
    const bool has_window = def.FindAttr("window_size_func") != nullptr;
    if (name == "predicate") return maker_.Returning(types_, {DT_BOOL});
    if (name == "key_func") return maker_.Returning(types_, {DT_INT64});
    if (name == "window_size_func") return maker_.Returning({DT_INT64}, {DT_INT64});
    if (name == "init_func") return maker_.Returning({DT_INT64}, state_);
    if (name == "finalize_func") return maker_.Returning(state_, types_);
    if (name == "reduce_func") {
      if (has_window) return maker_.Returning({DT_INT64, DT_VARIANT}, {DT_VARIANT});
      return maker_.Returning(Joined(state_, types_), state_);
    }
    return Main(def, elements);
  }

  void SetAttr(const OpDef& def, const AttrDef& attr, Types* elements, pb::NodeDef* node) {
    pb::AttrValue& value = (*node->mutable_attr())[attr.name];
    switch (attr.kind) {
      case AttrKind::kFunction:
        return SetFunction(node, attr.name, Function(def, attr.name, elements));
      case AttrKind::kType:
        if (!attr.is_list) return value.set_type(pb::DT_INT64);
        return SetTypes(node, attr.name, attr.name == "Tstate" ? state_ : Types());
      case AttrKind::kInt:
        return value.set_i(attr.minimum.value_or(0) + bytes_.Byte() % 3);
      case AttrKind::kBool:
        return value.set_b(bytes_.Byte() % 2 == 0);
      case AttrKind::kFloat:
        return value.set_f(bytes_.Float());
      case AttrKind::kString:
        if (attr.is_list) return static_cast<void>(value.mutable_list());
        return value.set_s(attr.name == "deterministic" && bytes_.Byte() % 2 == 0 ? "true"
                           : attr.name == "deterministic"                         ? "default"
                                                                                  : "");
      default:
        return static_cast<void>(value.mutable_list());
    }
  }

  void AddInput(const ArgDef& arg, const pb::NodeDef& made, std::vector<std::string>* inputs) {
    const Types types = arg.name == "padding_values" ? types_ : TypesOf(arg, made);
    for (const DataType type : types) {
      if (type == DT_VARIANT) {
        const bool is_first = std::find(inputs->begin(), inputs->end(), dataset_) == inputs->end();
        inputs->push_back(is_first || before_.empty() || bytes_.Byte() % 2 == 0 ? dataset_
                                                                                : before_);
      } else if (arg.name == "row_shape" || arg.name == "batch_sizes" ||
                 arg.name == "padded_shapes" || arg.name.starts_with("optimizations")) {
        inputs->push_back(Vector(type));
      } else {
        inputs->push_back(Scalar(type));
      }
    }
  }

  void AddTransform(const OpDef& def) {
    state_ = {types_[0]};
    Types elements = types_;
    pb::NodeDef made;
    made.set_op(def.name);
    for (const AttrDef& attr : def.attrs) SetAttr(def, attr, &elements, &made);
    if (def.name == "WindowDataset") elements.assign(types_.size(), DT_VARIANT);
    if (def.name.ends_with("DenseToSparseBatchDataset")) elements = {DT_VARIANT};
    for (const char* name : {"output_types", "Toutput_types"}) {
      if (def.FindAttr(name) != nullptr) SetTypes(&made, name, elements);
    }
    if (def.FindAttr("output_shapes") != nullptr) {
      SetUnknownShapes(&made, "output_shapes", elements.size());
    }
    if (def.name.starts_with("PaddedBatch")) {
      (*made.mutable_attr())["N"].set_i(static_cast<int64_t>(types_.size()));
    }
    std::vector<std::string> inputs;
    for (const ArgDef& arg : def.inputs) AddInput(arg, made, &inputs);
    pb::NodeDef* node = maker_.AddNode(def.name);
    *node->mutable_attr() = made.attr();
    for (const std::string& input : inputs) node->add_input(input);
    SetDataset(node, std::move(elements));
  }

  pb::NodeDef* AddElementReader(const std::string& op, const std::string& from) {
    pb::NodeDef* node = maker_.AddNode(op);
    node->add_input(from);
    SetTypes(node, "output_types", types_);
    SetUnknownShapes(node, "output_shapes", types_.size());
    return node;
  }

  void AddReader() {
    const size_t kind = bytes_.Below(4);
    if (kind == 0) {
      pb::NodeDef* node = AddElementReader("DatasetToSingleElement", dataset_);
      graph_.fetches.push_back(node->name());
      return;
    }
    pb::NodeDef* iterator = maker_.AddNode("IteratorV2");
    const std::string name = iterator->name();
    (*iterator->mutable_attr())["shared_name"].set_s("");
    (*iterator->mutable_attr())["container"].set_s("");
    SetTypes(iterator, "output_types", types_);
    SetUnknownShapes(iterator, "output_shapes", types_.size());
    pb::NodeDef* start = maker_.AddNode("MakeIterator");
    start->add_input(dataset_);
    start->add_input(name);
    graph_.targets.push_back(start->name());
    const std::string next =
        AddElementReader(kind == 1 ? "IteratorGetNextAsOptional" : "IteratorGetNext", name)->name();
    for (int i = 0; i < kReads; ++i) graph_.fetches.push_back(next);
    if (kind == 2) {
      pb::NodeDef* cardinality = maker_.AddNode("DatasetCardinality");
      cardinality->add_input(dataset_);
      graph_.fetches.push_back(cardinality->name());
    }
  }

  ByteReader& bytes_;
  MadeGraph graph_;
  FunctionMaker maker_;
  std::vector<MadeFunction> functions_;
  std::string dataset_, before_;
  Types types_;  // of the dataset's elements
  Types state_;  // of an op that keeps a state
};

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::ByteReader bytes({reinterpret_cast<const char*>(data), size});
  sluice::RunMade(sluice::Pipeline(bytes).Make());
  return 0;
}
