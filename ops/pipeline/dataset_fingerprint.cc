#include "ops/pipeline/dataset_fingerprint.h"

#include <map>
#include <string>
#include <string_view>

#include "graph/format/attr_value.h"
#include "graph/format/deterministic_bytes.h"
#include "graph/op/op_def.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/strings/hash.h"

namespace sluice {
namespace {

class Fingerprinter {
 public:
  explicit Fingerprinter(const FunctionLibrary& library) : library_(library) {}

  uint64_t OfTensor(const Tensor& t) {
    std::string text = StrCat(DataTypeName(t.dtype()), t.shape().ToString(), "\n");
    if (!t.IsInitialized()) return Fingerprint64(text);
    if (t.dtype() == DT_VARIANT) {
      for (int64_t i = 0; i < t.num_elements(); ++i) AddVariant(t.data<Variant>()[i], &text);
    } else if (t.dtype() == DT_STRING) {
      for (const std::string& s : t.flat<std::string>()) StrAppend(&text, s.size(), ":", s);
    } else if (DataTypeSize(t.dtype()) > 0) {
      const std::string_view bytes(static_cast<const char*>(t.raw()), t.bytes());
      StrAppend(&text, Fingerprint64(bytes));
    }
    return Fingerprint64(text);
  }

 private:
  // Recurses into the inputs of the dataset. SetDatasetOutput limits the depth of the recursion.
  void AddVariant(const Variant& variant, std::string* text) {
    const auto* dataset = variant.get<DatasetVariant>();
    if (dataset == nullptr || dataset->origin() == nullptr) {
      StrAppend(text, variant.TypeName(), "\n");
      return;
    }
    const DatasetOrigin& origin = *dataset->origin();
    StrAppend(text, origin.op, "\n");
    for (const auto& [name, value] : origin.attrs) {
      if (name.starts_with("_") || name.starts_with("seed") || name == "metadata") continue;
      StrAppend(text, name, "=", OfAttr(value), "\n");
    }
    for (size_t i = 0; i < origin.inputs.size(); ++i) {
      if (!IsSeed(origin, i)) StrAppend(text, OfTensor(origin.inputs[i]), "\n");
    }
  }

  static bool IsSeed(const DatasetOrigin& origin, size_t i) {
    const OpDef* op = OpRegistry::Global().Find(origin.op);
    return op != nullptr && i < op->inputs.size() && op->inputs[i].name.starts_with("seed");
  }

  std::string OfAttr(const AttrValue& value) {
    if (const auto* f = std::get_if<FunctionAttr>(&value)) return OfFunction((*f)->name);
    pb::AttrValue proto;
    if (!AttrToProto(value, &proto).ok()) return AttrToString(value);
    ReplaceFunctions(&proto);
    return DeterministicBytes(proto);
  }

  // Returns the fingerprint of a function's body. Names of functions that it calls are replaced by
  // their fingerprints, so that the result does not depend on names. A function that calls itself,
  // perhaps through others, has no fingerprint yet: the number of functions found before it stands
  // for it.
  std::string OfFunction(const std::string& name) {
    const auto known = functions_.emplace(name, StrCat("recursive ", functions_.size()));
    if (!known.second) return known.first->second;
    const absl::StatusOr<const pb::FunctionDef*> found = library_.Find(name);
    if (!found.ok()) return name;
    pb::FunctionDef body = **found;
    body.mutable_signature()->clear_name();
    body.clear_attr();
    for (pb::NodeDef& node : *body.mutable_node_def()) {
      node.clear_experimental_debug_info();
      // By name, because the order of a map of a message differs from process to process, and the
      // numbers of recursive functions depend on the order.
      std::map<std::string_view, pb::AttrValue*> attrs;
      for (auto& [attr, value] : *node.mutable_attr()) attrs[attr] = &value;
      for (const auto& [attr, value] : attrs) ReplaceFunctions(value);
      if (library_.Contains(node.op())) node.set_op(OfFunction(node.op()));
    }
    return functions_[name] = StrCat(Fingerprint64(DeterministicBytes(body)));
  }

  void ReplaceFunctions(pb::AttrValue* value) {
    if (value->has_func()) value->mutable_func()->set_name(OfFunction(value->func().name()));
    if (!value->has_list()) return;
    for (pb::NameAttrList& f : *value->mutable_list()->mutable_func()) {
      f.set_name(OfFunction(f.name()));
    }
  }

  const FunctionLibrary& library_;
  std::map<std::string, std::string> functions_;
};

}  // namespace

uint64_t DatasetFingerprint(const Tensor& tensor, const FunctionLibrary& library) {
  return Fingerprinter(library).OfTensor(tensor);
}

}  // namespace sluice
