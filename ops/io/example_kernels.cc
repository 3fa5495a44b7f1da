// Kernels that parse serialised Examples.
#include <google/protobuf/util/json_util.h>

#include <tuple>

#include "executor/kernel/context.h"
#include "graph/format/proto/example.pb.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/io/examples.h"
#include "ops/io/parse_examples.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

// Sets the outputs to the features, in the order in which the ops declare them.
absl::Status OutputFeatures(KernelContext& c, ParsedFeatures parsed) {
  int next = 0;
  for (auto* tensors : {&parsed.sparse_indices, &parsed.sparse_values, &parsed.sparse_shapes,
                        &parsed.dense_values, &parsed.ragged_values, &parsed.ragged_splits}) {
    const int first = next;
    next += static_cast<int>(tensors->size());
    SetOutputs(c, first, std::move(*tensors));
  }
  return absl::OkStatus();
}

// Returns the features that the attributes describe. Keys may be missing, because they are inputs.
absl::StatusOr<FeatureSpecs> SpecsOf(const KernelInit& init) {
  FeatureSpecs specs;
  const auto dense_types = init.attr<std::vector<DataType>>("Tdense");
  const auto shapes = init.attr<std::vector<PartialShape>>("dense_shapes");
  const auto sparse_types = init.attr<std::vector<DataType>>("sparse_types");
  const auto ragged_types = init.AttrOr<std::vector<DataType>>("ragged_value_types", {});
  const auto split_types = init.AttrOr<std::vector<DataType>>("ragged_split_types", {});
  SLUICE_INVALID_IF(shapes.size() != dense_types.size(),
                    "len(dense_keys) != len(dense_shapes): ", dense_types.size(), " vs. ",
                    shapes.size());
  SLUICE_INVALID_IF(ragged_types.size() != split_types.size(),
                    "len(ragged_value_types) != len(ragged_split_types): ", ragged_types.size(),
                    " vs. ", split_types.size());
  const auto dense = static_cast<int64_t>(dense_types.size());
  const auto sparse = static_cast<int64_t>(sparse_types.size());
  for (const auto& [count, size, kind] : {std::tuple("Nsparse", sparse, "sparse"),
                                          {"num_sparse", sparse, "sparse"},
                                          {"Ndense", dense, "dense"}}) {
    const auto n = init.AttrOr<int64_t>(count, size);
    if (n == size) continue;
    return InvalidArgument("len(", kind, "_keys) != len(", kind, "_types): ", n, " vs. ", size);
  }
  SLUICE_RETURN_IF_ERROR(CheckDenseShapes(shapes));
  for (size_t i = 0; i < shapes.size(); ++i) {
    specs.dense.push_back({.dtype = dense_types[i], .shape = shapes[i]});
  }
  for (DataType type : sparse_types) specs.sparse.push_back({.dtype = type});
  for (size_t i = 0; i < ragged_types.size(); ++i) {
    specs.ragged.push_back({.dtype = ragged_types[i], .split_type = split_types[i]});
  }
  return specs;
}

class ParseExampleKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(FeatureSpecs specs, SpecsOf(init));
    return std::unique_ptr<Kernel>(new ParseExampleKernel(init, std::move(specs)));
  }

  absl::Status Compute(KernelContext& c) override {
    FeatureSpecs specs = specs_;
    SLUICE_RETURN_IF_ERROR(TakeKeys(c, &specs));
    const Tensor& serialized = c.input(0);
    const Tensor& names = c.input(1);
    const bool is_single = is_v2_ && serialized.shape().IsScalar();
    SLUICE_INVALID_IF(!serialized.shape().IsVector() && !is_single, "Expected serialized to be a ",
                      is_v2_ ? "scalar or " : "",
                      "vector, got shape: ", serialized.shape().ToString());
    SLUICE_INVALID_IF(
        names.num_elements() > 0 && !(names.shape() == serialized.shape()),
        "Expected names have the same shape as serialized: name.shape=", names.shape().ToString(),
        ", serialized.shape=", serialized.shape().ToString());
    SLUICE_RETURN_IF_ERROR(CheckDefaults(specs.dense));
    Examples examples;
    SLUICE_RETURN_IF_ERROR(examples.Parse(serialized.flat<std::string>()));
    SLUICE_ASSIGN_OR_RETURN(
        ParsedFeatures parsed,
        ParseFeatures(examples.features(), names.flat<std::string>(), specs,
                      is_single ? BatchForm::kSingle : BatchForm::kBatch, *c.step().allocator));
    return OutputFeatures(c, std::move(parsed));
  }

 private:
  ParseExampleKernel(const KernelInit& init, FeatureSpecs specs)
      : specs_(std::move(specs)),
        is_v2_(init.node().op() == "ParseExampleV2"),
        defaults_(init.InputRange("dense_defaults")) {}

  // Sets the keys, which are inputs: a vector for each kind of features or, in the first version, a
  // scalar for each key.
  absl::Status TakeKeys(const KernelContext& c, FeatureSpecs* specs) const {
    int at = 2;  // the first input with keys
    const auto take = [&](auto& features, const char* what) -> absl::Status {
      if (is_v2_) {
        const Tensor& keys = c.input(at++);
        SLUICE_INVALID_IF(keys.num_elements() != static_cast<int64_t>(features.size()),
                          "Expected len(", what, ") == ", features.size(), ", got ",
                          keys.shape().ToString());
        for (size_t i = 0; i < features.size(); ++i) {
          features[i].key = keys.data<std::string>()[i];
        }
        return absl::OkStatus();
      }
      for (auto& feature : features) {
        const Tensor& key = c.input(at++);
        SLUICE_INVALID_IF(!key.shape().IsScalar(), "Expected ", what,
                          " to be scalars, got shape: ", key.shape().ToString());
        feature.key = key.scalar<std::string>();
      }
      return absl::OkStatus();
    };
    SLUICE_RETURN_IF_ERROR(take(specs->sparse, "sparse_keys"));
    SLUICE_RETURN_IF_ERROR(take(specs->dense, "dense_keys"));
    if (is_v2_) SLUICE_RETURN_IF_ERROR(take(specs->ragged, "ragged_keys"));
    for (size_t i = 0; i < specs->dense.size(); ++i) {
      specs->dense[i].default_value = c.input(defaults_.first + static_cast<int>(i));
    }
    return absl::OkStatus();
  }

  const FeatureSpecs specs_;
  const bool is_v2_;
  const std::pair<int, int> defaults_;
};
KERNEL(ParseExample, ParseExampleKernel);
KERNEL(ParseExampleV2, ParseExampleKernel);

absl::StatusOr<FeatureSpecs> SpecsOfSingle(KernelInit& init) {
  SLUICE_ASSIGN_OR_RETURN(FeatureSpecs specs, SpecsOf(init));
  const auto sparse_keys = init.attr<std::vector<std::string>>("sparse_keys");
  const auto dense_keys = init.attr<std::vector<std::string>>("dense_keys");
  SLUICE_INVALID_IF(
      sparse_keys.size() != specs.sparse.size() || dense_keys.size() != specs.dense.size(),
      "expected as many keys as types, got ", sparse_keys.size(), " and ", dense_keys.size(),
      " for ", specs.sparse.size(), " and ", specs.dense.size());
  for (size_t i = 0; i < sparse_keys.size(); ++i) specs.sparse[i].key = sparse_keys[i];
  for (size_t i = 0; i < dense_keys.size(); ++i) specs.dense[i].key = dense_keys[i];
  return specs;
}

absl::Status ParseSingleExample(KernelContext& c, const Prepared<SpecsOfSingle>& prepared) {
  FeatureSpecs specs = *prepared;
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(0), 0, "Expected serialized to be a scalar, got shape: "));
  for (size_t i = 0; i < specs.dense.size(); ++i) {
    specs.dense[i].default_value = c.input(1 + static_cast<int>(i));
  }
  SLUICE_RETURN_IF_ERROR(CheckDefaults(specs.dense));
  Examples examples;
  SLUICE_RETURN_IF_ERROR(examples.Parse(c.input(0).flat<std::string>()));
  SLUICE_ASSIGN_OR_RETURN(
      ParsedFeatures parsed,
      ParseFeatures(examples.features(), {}, specs, BatchForm::kSingle, *c.step().allocator));
  return OutputFeatures(c, std::move(parsed));
}
KERNEL(ParseSingleExample, FunctionKernel<ParseSingleExample>);

absl::Status DecodeJsonExample(KernelContext& c) {
  const Tensor& json = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, json.shape()));
  for (int64_t i = 0; i < json.num_elements(); ++i) {
    pb::Example example;
    const auto status =
        google::protobuf::util::JsonStringToMessage(json.data<std::string>()[i], &example);
    SLUICE_INVALID_IF(!status.ok(), "Error while parsing JSON: ",
                      std::string(status.message().data(), status.message().size()));
    out->data<std::string>()[i] = example.SerializeAsString();
  }
  return absl::OkStatus();
}
KERNEL(DecodeJSONExample, FunctionKernel<DecodeJsonExample>);

}  // namespace
}  // namespace sluice
