#include "tests/fuzz/made_graph.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "graph/format/attr_value.h"
#include "graph/hash.h"
#include "graph/op/op_def.h"
#include "graph/strings.h"
#include "graph/tensor/dtype.h"

namespace sluice {
namespace {

constexpr size_t kMaxNodes = 6;
constexpr int64_t kMaxElements = 64;

// Selects an op by a hash of its name, so that inputs keep their meaning when ops are added or
// removed.
const OpDef& OpAt(uint16_t number) {
  static const auto& ops = *[] {
    auto* result = new std::map<uint16_t, const OpDef*>;
    for (const OpDef* def : OpRegistry::Global().All()) {
      if (WritesFiles(def->name) || def->name[0] == '_') continue;
      uint16_t key = static_cast<uint16_t>(Hash64(def->name));
      while (!result->emplace(key, def).second) ++key;
    }
    return result;
  }();
  const auto at = ops.lower_bound(number);
  return *(at == ops.end() ? ops.begin() : at)->second;
}

bool HasValues(DataType t) { return t == DT_STRING || IsPlainBytes(t); }

// All dtypes for which there are values, and the two that only ops return.
DataType AnyType(ByteReader& bytes) {
  constexpr DataType kTypes[] = {
      DT_FLOAT,      DT_INT32,    DT_INT64,  DT_DOUBLE, DT_BOOL,   DT_STRING,   DT_UINT8,
      DT_INT8,       DT_INT16,    DT_UINT16, DT_HALF,   DT_UINT32, DT_UINT64,   DT_COMPLEX64,
      DT_COMPLEX128, DT_BFLOAT16, DT_QINT8,  DT_QUINT8, DT_QINT32, DT_RESOURCE, DT_VARIANT};
  return kTypes[bytes.Below(std::size(kTypes))];
}

std::string AnyString(ByteReader& bytes) {
  constexpr const char* kStrings[] = {"",      "a",      "SAME",      "VALID", "NHWC",    "NCHW",
                                      "float", "n0",     "0",         "-1.5",  "a,b;c d", "%d",
                                      "left",  "LINEAR", "\xff\x00z", "i",     "reflect", "UTF-8"};
  const uint8_t kind = bytes.Byte();
  if (kind < 230) return kStrings[kind % std::size(kStrings)];
  return std::string(bytes.Take(bytes.Byte() % 32));
}

class Maker {
 public:
  explicit Maker(ByteReader& bytes) : bytes_(bytes) { AddFunctions(); }

  MadeGraph Make() {
    const size_t count = 1 + bytes_.Below(kMaxNodes);
    for (size_t i = 0; i < count && (i == 0 || !bytes_.empty()); ++i) {
      AddNode(OpAt(static_cast<uint16_t>(bytes_.Byte() | bytes_.Byte() << 8)));
    }
    return std::move(graph_);
  }

 private:
  struct Made {
    std::string name;
    DataType dtype;
  };

  // Functions for attributes of ops: F negates, P tests whether its argument is finite.
  void AddFunctions() {
    for (const auto& [name, op, type] :
         {std::tuple{"F", "Neg", pb::DT_FLOAT}, {"P", "IsFinite", pb::DT_BOOL}}) {
      pb::FunctionDef* f = graph_.def.mutable_library()->add_function();
      f->mutable_signature()->set_name(name);
      pb::OpDef::ArgDef* in = f->mutable_signature()->add_input_arg();
      in->set_name("x");
      in->set_type(pb::DT_FLOAT);
      pb::OpDef::ArgDef* out = f->mutable_signature()->add_output_arg();
      out->set_name("y");
      out->set_type(type);
      pb::NodeDef* node = f->add_node_def();
      node->set_name("n");
      node->set_op(op);
      node->add_input("x");
      (*node->mutable_attr())["T"].set_type(pb::DT_FLOAT);
      (*f->mutable_ret())["y"] = "n:y:0";
    }
  }

  pb::TensorShapeProto Shape(bool may_be_unknown) {
    pb::TensorShapeProto shape;
    const uint8_t kind = bytes_.Byte();
    if (kind % 3 == 0) return last_shape_;  // related inputs often have the same shape
    if (may_be_unknown && kind % 16 == 1) {
      shape.set_unknown_rank(true);
      return shape;
    }
    int64_t elements = 1;
    for (int rank = (kind >> 4) % 6; rank > 0; --rank) {
      int64_t size = bytes_.Byte() % 6;
      if (size == 5) size = may_be_unknown ? -1 : 1;
      if (elements * size > kMaxElements) size = 1;
      elements *= std::max<int64_t>(size, 1);
      shape.add_dim()->set_size(size);
    }
    if (!may_be_unknown) last_shape_ = shape;
    return shape;
  }

  // A constant or a fed placeholder.
  std::string AddSource(DataType dtype) {
    pb::NodeDef* node = graph_.def.add_node();
    node->set_name(StrCat("s", graph_.def.node_size()));
    const auto type = static_cast<pb::DataType>(dtype);
    (*node->mutable_attr())["dtype"].set_type(type);
    const uint8_t kind = bytes_.Byte();
    if (!HasValues(dtype)) {
      node->set_op("Placeholder");
      return node->name();
    }
    const pb::TensorShapeProto shape = Shape(false);
    const pb::TensorProto value = MakeValue(bytes_, type, shape);
    if (kind % 2 == 0) {
      node->set_op("Const");
      *(*node->mutable_attr())["value"].mutable_tensor() = value;
    } else {
      node->set_op("Placeholder");
      pb::TensorShapeProto* said = (*node->mutable_attr())["shape"].mutable_shape();
      if (kind % 4 == 1) {
        said->set_unknown_rank(true);
      } else {
        *said = shape;
      }
      graph_.feeds.emplace_back(node->name(), value);
    }
    made_.push_back({node->name(), dtype});
    return node->name();
  }

  std::string Input(DataType dtype, bool is_ref) {
    std::vector<std::string> fitting;
    for (const Made& made : made_) {
      if (BaseType(made.dtype) == dtype && (!is_ref || IsRefType(made.dtype))) {
        fitting.push_back(made.name);
      }
    }
    const size_t choice = bytes_.Below(fitting.size() + 1);
    // The newest first.
    if (choice < fitting.size()) return fitting[fitting.size() - 1 - choice];
    return AddSource(dtype);
  }

  DataType TypeIn(const TypeSet& allowed) {
    const uint8_t kind = bytes_.Byte();
    if (kind % 2 == 0 && !made_.empty()) {
      const DataType type = BaseType(made_[made_.size() - 1 - kind / 2 % made_.size()].dtype);
      if (allowed.empty() || allowed.contains(type)) return type;
    }
    if (allowed.empty()) return AnyType(bytes_);
    const std::vector<DataType> types = allowed.list();
    return types[bytes_.Below(types.size())];
  }

  void SetElement(const AttrDef& def, pb::AttrValue* value) {
    switch (def.kind) {
      case AttrKind::kString:
        value->set_s(def.allowed_strings.empty()
                         ? AnyString(bytes_)
                         : def.allowed_strings[bytes_.Below(def.allowed_strings.size())]);
        return;
      case AttrKind::kInt:
        value->set_i(bytes_.Byte() < 192 ? def.minimum.value_or(0) + bytes_.Byte() % 4
                                         : bytes_.Int());
        return;
      case AttrKind::kFloat:
        value->set_f(bytes_.Float());
        return;
      case AttrKind::kBool:
        value->set_b(bytes_.Byte() % 2 != 0);
        return;
      case AttrKind::kType:
        value->set_type(static_cast<pb::DataType>(TypeIn(def.allowed_types)));
        return;
      case AttrKind::kShape:
        *value->mutable_shape() = Shape(true);
        return;
      case AttrKind::kTensor: {
        const DataType type = AnyType(bytes_);
        *value->mutable_tensor() = MakeValue(
            bytes_, static_cast<pb::DataType>(HasValues(type) ? type : DT_FLOAT), Shape(false));
        return;
      }
      case AttrKind::kFunction:
        value->mutable_func()->set_name(bytes_.Byte() % 2 == 0 ? "F" : "P");
        return;
    }
  }

  void SetList(const AttrDef& def, pb::AttrValue* value) {
    pb::AttrValue::ListValue* list = value->mutable_list();
    const auto least = static_cast<size_t>(std::clamp<int64_t>(def.minimum.value_or(0), 0, 8));
    for (size_t left = least + bytes_.Below(4); left > 0; --left) {
      pb::AttrValue element;
      SetElement(def, &element);
      switch (def.kind) {
        case AttrKind::kString:
          list->add_s(element.s());
          break;
        case AttrKind::kInt:
          list->add_i(element.i());
          break;
        case AttrKind::kFloat:
          list->add_f(element.f());
          break;
        case AttrKind::kBool:
          list->add_b(element.b());
          break;
        case AttrKind::kType:
          list->add_type(element.type());
          break;
        case AttrKind::kShape:
          *list->add_shape() = element.shape();
          break;
        case AttrKind::kTensor:
          *list->add_tensor() = element.tensor();
          break;
        case AttrKind::kFunction:
          *list->add_func() = element.func();
          break;
      }
    }
  }

  void AddNode(const OpDef& def) {
    pb::NodeDef node;
    node.set_op(def.name);
    node.set_name(StrCat("n", graph_.def.node_size()));
    for (const AttrDef& attr : def.attrs) {
      pb::AttrValue value;
      if (attr.default_value && bytes_.Byte() % 2 == 0) {
        if (!AttrToProto(*attr.default_value, &value).ok()) continue;
      } else if (attr.is_list) {
        SetList(attr, &value);
      } else {
        SetElement(attr, &value);
      }
      (*node.mutable_attr())[attr.name] = value;
    }
    // Limits counts, because sources are added for each element.
    for (const std::vector<ArgDef>& args : {def.inputs, def.outputs}) {
      for (const ArgDef& arg : args) {
        if (arg.number_attr.empty()) continue;
        pb::AttrValue& count = (*node.mutable_attr())[arg.number_attr];
        count.set_i(std::clamp<int64_t>(count.i(), 0, 4));
      }
    }
    for (const ArgDef& arg : def.inputs) {
      for (const DataType type : TypesOf(arg, node))
        node.add_input(Input(BaseType(type), arg.is_ref));
    }
    int index = 0;
    for (const ArgDef& arg : def.outputs) {
      for (const DataType type : TypesOf(arg, node)) {
        const std::string name = StrCat(node.name(), ":", index++);
        made_.push_back({name, arg.is_ref ? MakeRefType(type) : type});
        graph_.fetches.push_back(name);
      }
    }
    if (def.outputs.empty()) graph_.targets.push_back(node.name());
    *graph_.def.add_node() = std::move(node);
  }

  ByteReader& bytes_;
  MadeGraph graph_;
  std::vector<Made> made_;
  pb::TensorShapeProto last_shape_;
};

// Appends a number of type `dtype`, read from `bytes`.
void AppendNumber(ByteReader& bytes, pb::DataType dtype, std::string* content) {
  const auto append = [&](auto value) {
    content->append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto type = static_cast<DataType>(dtype);
  if (type == DT_FLOAT) return append(bytes.Float());
  if (type == DT_DOUBLE) return append(static_cast<double>(bytes.Float()));
  if (type == DT_COMPLEX64) {
    append(bytes.Float());
    return append(bytes.Float());
  }
  if (type == DT_BOOL) return append(static_cast<uint8_t>(bytes.Byte() % 2));
  const int64_t value = bytes.Int();
  for (size_t i = 0; i < DataTypeSize(type); ++i) {
    content->push_back(static_cast<char>(value >> std::min<size_t>(8 * i, 63)));
  }
}

}  // namespace

uint8_t ByteReader::Byte() {
  if (bytes_.empty()) return 0;
  const auto byte = static_cast<uint8_t>(bytes_[0]);
  bytes_.remove_prefix(1);
  return byte;
}

size_t ByteReader::Below(size_t n) { return Byte() % n; }

int64_t ByteReader::Int64() {
  int64_t value = 0;
  const std::string_view taken = Take(sizeof(value));
  std::memcpy(&value, taken.data(), taken.size());
  return value;
}

int64_t ByteReader::Int() {
  const uint8_t kind = Byte();
  if (kind < 220) return kind % 8 - 2;
  constexpr int64_t kFar[] = {std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int32_t>::max(),
                              std::numeric_limits<int32_t>::min(),
                              int64_t{1} << 32,
                              1 << 20,
                              100,
                              -100};
  if (kind < 250) return kFar[kind % std::size(kFar)];
  return Int64();
}

float ByteReader::Float() {
  const uint8_t kind = Byte();
  if (kind < 220) return static_cast<float>(kind % 16) / 4 - 1;
  constexpr float kFar[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(),
                            -0.0f,
                            1e10f};
  if (kind < 250) return kFar[kind % std::size(kFar)];
  return static_cast<float>(Int64());
}

std::string_view ByteReader::Take(size_t n) {
  const std::string_view taken = bytes_.substr(0, n);
  bytes_.remove_prefix(taken.size());
  return taken;
}

std::vector<DataType> TypesOf(const ArgDef& arg, const pb::NodeDef& node) {
  const auto attr = [&](const std::string& name) -> const pb::AttrValue& {
    return node.attr().at(name);
  };
  std::vector<DataType> types;
  if (!arg.type_list_attr.empty()) {
    for (const int type : attr(arg.type_list_attr).list().type()) {
      types.push_back(static_cast<DataType>(type));
    }
    return types;
  }
  const DataType type =
      arg.type_attr.empty() ? arg.type : static_cast<DataType>(attr(arg.type_attr).type());
  types.assign(arg.number_attr.empty() ? 1 : static_cast<size_t>(attr(arg.number_attr).i()), type);
  return types;
}

MadeGraph MakeGraph(ByteReader& bytes) { return Maker(bytes).Make(); }

pb::TensorProto MakeValue(ByteReader& bytes, pb::DataType dtype,
                          const pb::TensorShapeProto& shape) {
  pb::TensorProto value;
  value.set_dtype(dtype);
  int64_t elements = 1;
  for (const pb::TensorShapeProto::Dim& dim : shape.dim()) {
    const int64_t size = dim.size() < 0 ? 1 : dim.size();
    value.mutable_tensor_shape()->add_dim()->set_size(size);
    elements = std::min(elements * size, kMaxElements);
  }
  for (int64_t i = 0; i < elements; ++i) {
    if (dtype == pb::DT_STRING) {
      value.add_string_val(AnyString(bytes));
    } else {
      AppendNumber(bytes, dtype, value.mutable_tensor_content());
    }
  }
  return value;
}

bool WritesFiles(std::string_view op) {
  constexpr std::string_view kOps[] = {
      "CacheDataset",       "CacheDatasetV2", "CreateSummaryFileWriter",
      "MergeV2Checkpoints", "PrintV2",        "Save",
      "SaveSlices",         "SaveV2",         "WriteFile"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

}  // namespace sluice
