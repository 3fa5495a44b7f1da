// Kernels that parse serialised SequenceExamples.
#include <google/protobuf/arena.h>

#include <set>
#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/format/proto/example.pb.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/io/feature_lists.h"

namespace sluice {
namespace {

using Strings = std::vector<std::string>;

// The features that the attributes describe. Keys and defaults may be missing, because they can be
// inputs.
struct Specs {
  FeatureSpecs context;
  FeatureListSpecs lists;
};

// Checks that the lists of types have the lengths that other attributes declare.
absl::Status CheckCounts(const KernelInit& init) {
  const auto types = [&](const char* attr) { return init.AttrOr<std::vector<DataType>>(attr, {}); };
  for (const auto& [count, list] : {std::pair("Ncontext_sparse", "context_sparse_types"),
                                    std::pair("Nfeature_list_sparse", "feature_list_sparse_types"),
                                    std::pair("Nfeature_list_dense", "feature_list_dense_types")}) {
    const auto n = init.AttrOr<int64_t>(count, 0);
    if (n == static_cast<int64_t>(types(list).size())) continue;
    return InvalidArgument("len(", list, ") != ", count, ": ", types(list).size(), " vs. ", n);
  }
  return absl::OkStatus();
}

absl::StatusOr<Specs> SpecsOf(const KernelInit& init) {
  const auto types = [&](const char* attr) { return init.AttrOr<std::vector<DataType>>(attr, {}); };
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<TensorShape> context_shapes,
      FixedShapes(init.attr<std::vector<PartialShape>>("context_dense_shapes")));
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<TensorShape> list_shapes,
      FixedShapes(init.attr<std::vector<PartialShape>>("feature_list_dense_shapes")));
  const std::vector<DataType> context_types = types("Tcontext_dense");
  const std::vector<DataType> list_types = types("feature_list_dense_types");
  SLUICE_INVALID_IF(context_shapes.size() != context_types.size(),
                    "len(context_dense_keys) != len(context_dense_shapes): ", context_types.size(),
                    " vs. ", context_shapes.size());
  SLUICE_INVALID_IF(list_shapes.size() != list_types.size(),
                    "len(feature_list_dense_keys) != len(feature_list_dense_shapes): ",
                    list_types.size(), " vs. ", list_shapes.size());
  SLUICE_RETURN_IF_ERROR(CheckCounts(init));
  Specs specs;
  for (size_t i = 0; i < context_types.size(); ++i) {
    specs.context.dense.push_back({.dtype = context_types[i], .shape = context_shapes[i]});
  }
  for (size_t i = 0; i < list_types.size(); ++i) {
    specs.lists.dense.push_back({.dtype = list_types[i], .shape = list_shapes[i]});
  }
  for (DataType t : types("context_sparse_types")) specs.context.sparse.push_back({.dtype = t});
  for (DataType t : types("feature_list_sparse_types")) specs.lists.sparse.push_back({.dtype = t});
  const auto ragged = [&](const char* values, const char* splits,
                          std::vector<RaggedFeature>* out) -> absl::Status {
    const std::vector<DataType> value_types = types(values), split_types = types(splits);
    SLUICE_INVALID_IF(value_types.size() != split_types.size(), "len(", values, ") != len(", splits,
                      "): ", value_types.size(), " vs. ", split_types.size());
    for (size_t i = 0; i < value_types.size(); ++i) {
      out->push_back({.dtype = value_types[i], .split_type = split_types[i]});
    }
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(
      ragged("context_ragged_value_types", "context_ragged_split_types", &specs.context.ragged));
  SLUICE_RETURN_IF_ERROR(ragged("feature_list_ragged_value_types",
                                "feature_list_ragged_split_types", &specs.lists.ragged));
  return specs;
}

template <typename Feature>
absl::Status SetKeys(const char* what, const Strings& keys, std::vector<Feature>* features) {
  SLUICE_INVALID_IF(keys.size() != features->size(), "Expected len(", what,
                    ") == ", features->size(), ", got ", keys.size());
  for (size_t i = 0; i < keys.size(); ++i) (*features)[i].key = keys[i];
  return absl::OkStatus();
}

Strings StringsOf(const Tensor& t) {
  const auto all = t.flat<std::string>();
  return Strings(all.begin(), all.end());
}

// Parses examples, after Complete has set the keys.
class SequenceKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    Specs specs = specs_;
    SLUICE_RETURN_IF_ERROR(Complete(c, &specs));
    for (size_t i = 0; i < specs.context.dense.size(); ++i) {
      specs.context.dense[i].default_value = c.input(defaults_ + static_cast<int>(i));
    }
    SLUICE_RETURN_IF_ERROR(CheckDefaults(specs.context.dense));
    const Tensor &serialized = c.input(0), &names = c.input(names_);
    const BatchForm form = serialized.rank() == 0 ? BatchForm::kSingle : BatchForm::kBatch;
    SLUICE_INVALID_IF(serialized.rank() > 1 ||
                          (form == BatchForm::kBatch && kind_ == Kind::kSingle) ||
                          (form == BatchForm::kSingle && kind_ == Kind::kBatch),
                      "Expected serialized to be a ",
                      kind_ == Kind::kSingle  ? "scalar"
                      : kind_ == Kind::kBatch ? "vector"
                                              : "scalar or vector",
                      ", got shape: ", serialized.shape().ToString());
    SLUICE_INVALID_IF(names.num_elements() > 0 && !(names.shape() == serialized.shape()),
                      "Expected debug_name to have the shape of serialized, got ",
                      names.shape().ToString(), " and ", serialized.shape().ToString());
    return Parse(c, specs, form);
  }

 protected:
  enum class Kind { kSingle, kBatch, kEither };
  SequenceKernel(const KernelInit& init, Specs specs, Kind kind)
      : specs_(std::move(specs)),
        kind_(kind),
        names_(init.InputRange("debug_name").first),
        defaults_(init.InputRange("context_dense_defaults").first) {}

  // Sets the keys, and which lists an example may lack.
  virtual absl::Status Complete(const KernelContext& c, Specs* specs) const = 0;

 private:
  absl::Status Parse(KernelContext& c, const Specs& specs, BatchForm form) const {
    const auto names = c.input(names_).flat<std::string>();
    google::protobuf::Arena arena;
    std::vector<const pb::Features*> contexts;
    std::vector<const pb::FeatureLists*> lists;
    for (const std::string& bytes : c.input(0).flat<std::string>()) {
      auto* example = google::protobuf::Arena::CreateMessage<pb::SequenceExample>(&arena);
      SLUICE_INVALID_IF(!example->ParseFromString(bytes),
                        "Invalid protocol message input, example id: ",
                        names.empty() ? std::string("<unknown>") : names[contexts.size()]);
      contexts.push_back(&example->context());
      lists.push_back(&example->feature_lists());
    }
    Allocator& allocator = *c.step().allocator;
    SLUICE_ASSIGN_OR_RETURN(ParsedFeatures of_context,
                            ParseFeatures(contexts, names, specs.context, form, allocator));
    SLUICE_ASSIGN_OR_RETURN(ParsedFeatureLists of_lists,
                            ParseFeatureLists(lists, names, specs.lists, form, allocator));
    int next = 0;
    const auto output = [&](std::vector<Tensor>& tensors) {
      for (Tensor& t : tensors) c.set_output(next++, std::move(t));
    };
    output(of_context.sparse_indices);
    output(of_context.sparse_values);
    output(of_context.sparse_shapes);
    output(of_context.dense_values);
    output(of_context.ragged_values);
    output(of_context.ragged_splits);
    output(of_lists.sparse_indices);
    output(of_lists.sparse_values);
    output(of_lists.sparse_shapes);
    output(of_lists.dense_values);
    if (kind_ != Kind::kSingle) output(of_lists.dense_lengths);
    output(of_lists.ragged_values);
    output(of_lists.ragged_outer_splits);
    output(of_lists.ragged_inner_splits);
    return absl::OkStatus();
  }

  const Specs specs_;
  const Kind kind_;
  const int names_, defaults_;
};

class ParseSequenceExampleKernel : public SequenceKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(Specs specs, SpecsOf(init));
    const auto keys = [&](const char* attr) { return init.attr<Strings>(attr); };
    SLUICE_RETURN_IF_ERROR(
        SetKeys("context_sparse_keys", keys("context_sparse_keys"), &specs.context.sparse));
    SLUICE_RETURN_IF_ERROR(
        SetKeys("context_dense_keys", keys("context_dense_keys"), &specs.context.dense));
    SLUICE_RETURN_IF_ERROR(
        SetKeys("feature_list_sparse_keys", keys("feature_list_sparse_keys"), &specs.lists.sparse));
    SLUICE_RETURN_IF_ERROR(
        SetKeys("feature_list_dense_keys", keys("feature_list_dense_keys"), &specs.lists.dense));
    const Strings missing = keys("feature_list_dense_missing_assumed_empty");
    const std::set<std::string> may_miss(missing.begin(), missing.end());
    for (DenseFeatureList& f : specs.lists.dense) f.may_be_missing = may_miss.contains(f.key);
    return std::unique_ptr<Kernel>(new ParseSequenceExampleKernel(init, std::move(specs)));
  }

 private:
  ParseSequenceExampleKernel(const KernelInit& init, Specs specs)
      : SequenceKernel(init, std::move(specs), Kind::kBatch) {}
  absl::Status Complete(const KernelContext&, Specs*) const override { return absl::OkStatus(); }
};
KERNEL(ParseSequenceExample, ParseSequenceExampleKernel);

class ParseSequenceExampleV2Kernel : public SequenceKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(Specs specs, SpecsOf(init));
    return std::unique_ptr<Kernel>(new ParseSequenceExampleV2Kernel(init, std::move(specs)));
  }

 private:
  ParseSequenceExampleV2Kernel(const KernelInit& init, Specs specs)
      : SequenceKernel(init, std::move(specs), Kind::kEither) {}
  absl::Status Complete(const KernelContext& c, Specs* s) const override {
    const auto keys = [&](int i) { return StringsOf(c.input(i)); };
    SLUICE_RETURN_IF_ERROR(SetKeys("context_sparse_keys", keys(2), &s->context.sparse));
    SLUICE_RETURN_IF_ERROR(SetKeys("context_dense_keys", keys(3), &s->context.dense));
    SLUICE_RETURN_IF_ERROR(SetKeys("context_ragged_keys", keys(4), &s->context.ragged));
    SLUICE_RETURN_IF_ERROR(SetKeys("feature_list_sparse_keys", keys(5), &s->lists.sparse));
    SLUICE_RETURN_IF_ERROR(SetKeys("feature_list_dense_keys", keys(6), &s->lists.dense));
    SLUICE_RETURN_IF_ERROR(SetKeys("feature_list_ragged_keys", keys(7), &s->lists.ragged));
    const Tensor& may_miss = c.input(8);
    SLUICE_INVALID_IF(may_miss.num_elements() != static_cast<int64_t>(s->lists.dense.size()),
                      "Expected len(feature_list_dense_missing_assumed_empty) == ",
                      s->lists.dense.size(), ", got ", may_miss.num_elements());
    for (size_t i = 0; i < s->lists.dense.size(); ++i) {
      s->lists.dense[i].may_be_missing = may_miss.data<bool>()[i];
    }
    return CheckKinds(*s);
  }

  // Returns INVALID_ARGUMENT if features of different kinds have the same key.
  static absl::Status CheckKinds(const Specs& s) {
    SLUICE_RETURN_IF_ERROR(CheckKinds("Context feature ", s.context));
    return CheckKinds("Sequence feature ", s.lists);
  }
  template <typename All>
  static absl::Status CheckKinds(const char* what, const All& all) {
    std::set<std::string> dense, sparse;
    for (const auto& f : all.dense) dense.insert(f.key);
    for (const SparseFeature& f : all.sparse) {
      SLUICE_INVALID_IF(dense.contains(f.key), what, f.key, " cannot be both dense and sparse");
      sparse.insert(f.key);
    }
    for (const RaggedFeature& f : all.ragged) {
      SLUICE_INVALID_IF(dense.contains(f.key), what, f.key, " cannot be both dense and ragged");
      SLUICE_INVALID_IF(sparse.contains(f.key), what, f.key, " cannot be both ragged and sparse");
    }
    return absl::OkStatus();
  }
};
KERNEL(ParseSequenceExampleV2, ParseSequenceExampleV2Kernel);

class ParseSingleSequenceExampleKernel : public SequenceKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(Specs specs, SpecsOf(init));
    return std::unique_ptr<Kernel>(new ParseSingleSequenceExampleKernel(init, std::move(specs)));
  }

 private:
  ParseSingleSequenceExampleKernel(const KernelInit& init, Specs specs)
      : SequenceKernel(init, std::move(specs), Kind::kSingle),
        context_sparse_(init.InputRange("context_sparse_keys")),
        context_dense_(init.InputRange("context_dense_keys")),
        list_sparse_(init.InputRange("feature_list_sparse_keys")),
        list_dense_(init.InputRange("feature_list_dense_keys")) {}

  absl::Status Complete(const KernelContext& c, Specs* s) const override {
    const auto set = [&c](const char* what, std::pair<int, int> range,
                          auto* features) -> absl::Status {
      Strings keys;
      for (int i = range.first; i < range.second; ++i) {
        SLUICE_INVALID_IF(c.input(i).rank() != 0, "Expected ", what,
                          " to be scalars, got shape: ", c.input(i).shape().ToString());
        keys.push_back(c.input(i).scalar<std::string>());
      }
      return SetKeys(what, keys, features);
    };
    SLUICE_RETURN_IF_ERROR(set("context_sparse_keys", context_sparse_, &s->context.sparse));
    SLUICE_RETURN_IF_ERROR(set("context_dense_keys", context_dense_, &s->context.dense));
    SLUICE_RETURN_IF_ERROR(set("feature_list_sparse_keys", list_sparse_, &s->lists.sparse));
    SLUICE_RETURN_IF_ERROR(set("feature_list_dense_keys", list_dense_, &s->lists.dense));
    const Strings missing = StringsOf(c.input(1));
    const std::set<std::string> may_miss(missing.begin(), missing.end());
    for (DenseFeatureList& f : s->lists.dense) f.may_be_missing = may_miss.contains(f.key);
    return absl::OkStatus();
  }

  const std::pair<int, int> context_sparse_, context_dense_, list_sparse_, list_dense_;
};
KERNEL(ParseSingleSequenceExample, ParseSingleSequenceExampleKernel);

}  // namespace
}  // namespace sluice
