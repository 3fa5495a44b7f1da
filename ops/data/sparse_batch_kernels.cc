// Datasets whose elements hold sparse tensors in variants: batches of tensors that differ in size,
// and features of Examples.
#include <algorithm>
#include <map>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"
#include "ops/io/examples.h"
#include "ops/io/parse_examples.h"
#include "ops/ragged/ragged_variant.h"
#include "ops/sparse/tensor_variant.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;

Tensor SparseInVariants(Tensor indices, Tensor values, Tensor shape) {
  Tensor parts(DT_VARIANT, {3});
  parts.data<Variant>()[0] = AsVariant(std::move(indices));
  parts.data<Variant>()[1] = AsVariant(std::move(values));
  parts.data<Variant>()[2] = AsVariant(std::move(shape));
  return parts;
}

// --- batches of tensors of different sizes

absl::Status CheckRow(const Tensor& row, const std::vector<int64_t>& row_shape) {
  const auto wanted = PartialShape(row_shape).ToString();
  SLUICE_INVALID_IF(row.rank() != static_cast<int>(row_shape.size()), "Input element had shape (",
                    row.shape().ToString(), ") that is incompatible with the row shape (", wanted,
                    ").");
  for (int d = 0; d < row.rank(); ++d) {
    const int64_t size = row_shape[static_cast<size_t>(d)];
    if (size < 0 || row.dim(d) <= size) continue;
    return absl::DataLossError(StrCat("Input element had shape (", row.shape().ToString(),
                                      ") that is larger than the row shape (", wanted, ")."));
  }
  return absl::OkStatus();
}

// Writes an index for each value of `row`: the row's number in the batch, and the value's
// coordinates.
void AppendIndices(const Tensor& row, int64_t number, int64_t* to) {
  std::vector<int64_t> at(static_cast<size_t>(row.rank()));
  for (int64_t k = 0; k < row.num_elements(); ++k) {
    *to++ = number;
    to = std::copy(at.begin(), at.end(), to);
    for (int d = row.rank() - 1; d >= 0 && ++at[static_cast<size_t>(d)] == row.dim(d); --d) {
      at[static_cast<size_t>(d)] = 0;
    }
  }
}

absl::StatusOr<Tensor> SparseBatch(const Tensors& rows, const std::vector<int64_t>& row_shape) {
  const auto columns = static_cast<int64_t>(row_shape.size()) + 1;
  int64_t count = 0;
  Tensor shape(DT_INT64, {columns});
  auto* sizes = shape.data<int64_t>();
  sizes[0] = static_cast<int64_t>(rows.size());
  for (size_t d = 0; d < row_shape.size(); ++d) sizes[d + 1] = std::max<int64_t>(0, row_shape[d]);
  for (const Tensor& row : rows) {
    count += row.num_elements();
    for (int d = 0; d < row.rank(); ++d) sizes[d + 1] = std::max(sizes[d + 1], row.dim(d));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor indices,
                          Tensor::Allocate(LimitedHeap(), DT_INT64, {count, columns}));
  SLUICE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(LimitedHeap(), rows[0].dtype(), {count}));
  int64_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    AppendIndices(rows[i], static_cast<int64_t>(i), indices.data<int64_t>() + at * columns);
    CopyElements(rows[i], 0, rows[i].num_elements(), &values, at);
    at += rows[i].num_elements();
  }
  return SparseInVariants(std::move(indices), std::move(values), std::move(shape));
}

// Takes up to `size` elements, each of which must have one component. Returns fewer at the end.
absl::StatusOr<Tensors> TakeRows(DatasetIterator& inner, int64_t size,
                                 const std::vector<int64_t>& row_shape) {
  Tensors rows;
  while (static_cast<int64_t>(rows.size()) < size) {
    Tensors next;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner.Next(&next));
    if (!any) break;
    SLUICE_INVALID_IF(next.size() != 1 || (!rows.empty() && next[0].dtype() != rows[0].dtype()),
                      "DenseToSparseBatchDataset only supports inputs with a single component.");
    SLUICE_RETURN_IF_ERROR(CheckRow(next[0], row_shape));
    rows.push_back(std::move(next[0]));
  }
  return rows;
}

MadeDataset DenseToSparseBatchDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto size, ScalarInput<int64_t>(c, "batch_size"));
  SLUICE_INVALID_IF(size <= 0, "Batch size must be greater than zero.");
  SLUICE_INVALID_IF(c.input(2).rank() != 1, "row_shape must be a vector");
  const auto sizes = c.input(2).flat<int64_t>();
  const std::vector<int64_t> row_shape(sizes.begin(), sizes.end());
  for (int64_t n : row_shape) {
    SLUICE_INVALID_IF(n < -1, "Dimension ", n, " must be >= -1");
  }
  const auto start = [=](IteratorPointer inner, Reading&) {
    return MakeIterator([=, inner = std::move(inner)](Tensors* element) -> absl::StatusOr<bool> {
      SLUICE_ASSIGN_OR_RETURN(const Tensors rows, TakeRows(*inner, size, row_shape));
      if (rows.empty()) return false;
      SLUICE_ASSIGN_OR_RETURN(Tensor batch, SparseBatch(rows, row_shape));
      *element = {std::move(batch)};
      return true;
    });
  };
  return MakeDatasetOver(input, BatchedFacts(input->facts(), {.size = size}).OfOtherElements(),
                         start);
}

// --- features of Examples

using Keys = std::vector<std::string>;
using Types = std::vector<DataType>;
using Shapes = std::vector<PartialShape>;

// Returns the features that the attributes describe. Their default values are inputs of the op.
absl::StatusOr<FeatureSpecs> SpecsOf(const KernelInit& init) {
  const auto sparse_keys = init.AttrOr<Keys>("sparse_keys", {});
  const auto dense_keys = init.AttrOr<Keys>("dense_keys", {});
  const auto ragged_keys = init.AttrOr<Keys>("ragged_keys", {});
  const auto sparse_types = init.AttrOr<Types>("sparse_types", {});
  const auto dense_types = init.AttrOr<Types>("Tdense", {});
  const auto value_types = init.AttrOr<Types>("ragged_value_types", {});
  const auto split_types = init.AttrOr<Types>("ragged_split_types", {});
  const auto shapes = init.AttrOr<Shapes>("dense_shapes", {});
  SLUICE_INVALID_IF(sparse_types.size() != sparse_keys.size(),
                    "len(sparse_keys) != len(sparse_types)");
  SLUICE_INVALID_IF(dense_types.size() != dense_keys.size() || shapes.size() != dense_keys.size(),
                    "Expected len(dense_defaults) == len(dense_keys) but got: ", dense_types.size(),
                    " vs. ", dense_keys.size());
  SLUICE_INVALID_IF(
      value_types.size() != ragged_keys.size() || split_types.size() != ragged_keys.size(),
      "len(ragged_keys) != len(ragged_value_types)");
  SLUICE_RETURN_IF_ERROR(CheckDenseShapes(shapes));
  FeatureSpecs specs;
  for (size_t i = 0; i < dense_keys.size(); ++i) {
    specs.dense.push_back({.key = dense_keys[i], .dtype = dense_types[i], .shape = shapes[i]});
  }
  for (size_t i = 0; i < sparse_keys.size(); ++i) {
    specs.sparse.push_back({.key = sparse_keys[i], .dtype = sparse_types[i]});
  }
  for (size_t i = 0; i < ragged_keys.size(); ++i) {
    specs.ragged.push_back(
        {.key = ragged_keys[i], .dtype = value_types[i], .split_type = split_types[i]});
  }
  return specs;
}

// Parses the Examples in an element. Returns the features in the order of their keys.
class ExampleParser {
 public:
  static absl::StatusOr<ExampleParser> Make(FeatureSpecs specs, Types types, Shapes shapes) {
    ExampleParser parser(std::move(specs), std::move(types), std::move(shapes));
    const auto add = [&](const auto& features) -> absl::Status {
      for (const auto& f : features) {
        if (parser.places_.emplace(f.key, 0).second) continue;
        return InvalidArgument("Duplicate key not allowed: ", f.key);
      }
      return absl::OkStatus();
    };
    SLUICE_RETURN_IF_ERROR(add(parser.specs_.dense));
    SLUICE_RETURN_IF_ERROR(add(parser.specs_.sparse));
    SLUICE_RETURN_IF_ERROR(add(parser.specs_.ragged));
    size_t next = 0;
    for (auto& [key, place] : parser.places_) place = next++;
    return parser;
  }

  absl::StatusOr<Tensors> operator()(const Tensors& element, Reading&) const {
    Examples examples;
    for (const Tensor& t : element) {
      SLUICE_INVALID_IF(t.dtype() != DT_STRING, "expected serialised Examples, got ",
                        DataTypeName(t.dtype()));
      SLUICE_RETURN_IF_ERROR(examples.Parse(t.flat<std::string>()));
    }
    SLUICE_ASSIGN_OR_RETURN(ParsedFeatures parsed, ParseFeatures(examples.features(), {}, specs_,
                                                                 BatchForm::kBatch, LimitedHeap()));
    Tensors features(places_.size());
    const auto place = [&](const std::string& key) -> Tensor& { return features[places_.at(key)]; };
    for (size_t i = 0; i < specs_.dense.size(); ++i) {
      place(specs_.dense[i].key) = std::move(parsed.dense_values[i]);
    }
    for (size_t i = 0; i < specs_.sparse.size(); ++i) {
      place(specs_.sparse[i].key) =
          SparseInVariants(std::move(parsed.sparse_indices[i]), std::move(parsed.sparse_values[i]),
                           std::move(parsed.sparse_shapes[i]));
    }
    for (size_t i = 0; i < specs_.ragged.size(); ++i) {
      place(specs_.ragged[i].key) = Tensor::Scalar(Variant(std::make_shared<RaggedVariant>(
          Tensors{std::move(parsed.ragged_splits[i])}, std::move(parsed.ragged_values[i]))));
    }
    SLUICE_RETURN_IF_ERROR(Check(features));
    return features;
  }

 private:
  ExampleParser(FeatureSpecs specs, Types types, Shapes shapes)
      : specs_(std::move(specs)), types_(std::move(types)), shapes_(std::move(shapes)) {}

  absl::Status Check(const Tensors& features) const {
    for (size_t i = 0; i < features.size() && i < types_.size() && i < shapes_.size(); ++i) {
      SLUICE_INVALID_IF(features[i].dtype() != types_[i],
                        "Got wrong type for FastParseExample return value ", i, " (expected ",
                        DataTypeName(types_[i]), ", got ", DataTypeName(features[i].dtype()), ").");
      SLUICE_INVALID_IF(!shapes_[i].IsCompatibleWith(features[i].shape()),
                        "Got wrong shape for FastParseExample return value ", i, " (expected ",
                        shapes_[i].ToString(), ", got ", features[i].shape().ToString(), ").");
    }
    return absl::OkStatus();
  }

  FeatureSpecs specs_;
  Types types_;
  Shapes shapes_;
  std::map<std::string, size_t> places_;  // index of each feature by key
};

class ParseExampleDatasetKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(FeatureSpecs specs, SpecsOf(init));
    return std::unique_ptr<Kernel>(new ParseExampleDatasetKernel(init, std::move(specs)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    SLUICE_ASSIGN_OR_RETURN(const int64_t calls, ParallelCalls(c));
    FeatureSpecs specs = specs_;
    for (size_t i = 0; i < specs.dense.size(); ++i) {
      specs.dense[i].default_value = c.input(first_default_ + static_cast<int>(i));
    }
    SLUICE_RETURN_IF_ERROR(CheckDefaults(specs.dense));
    SLUICE_ASSIGN_OR_RETURN(const auto parser,
                            ExampleParser::Make(std::move(specs), types_, shapes_));
    const auto start = [=](IteratorPointer inner, Reading& reading) {
      return ParallelMap(std::move(inner), parser, calls, reading);
    };
    return SetDatasetOutput(c, MakeDatasetOver(input, input->facts().OfOtherElements(), start));
  }

 private:
  ParseExampleDatasetKernel(const KernelInit& init, FeatureSpecs specs)
      : specs_(std::move(specs)),
        types_(init.AttrOr<Types>("output_types", {})),
        shapes_(init.AttrOr<Shapes>("output_shapes", {})),
        first_default_(init.InputRange("dense_defaults").first) {}

  const FeatureSpecs specs_;
  const Types types_;
  const Shapes shapes_;
  const int first_default_;
};

KERNEL(DenseToSparseBatchDataset, DatasetKernel<DenseToSparseBatchDataset>);
KERNEL(ExperimentalDenseToSparseBatchDataset, DatasetKernel<DenseToSparseBatchDataset>);
KERNEL(ExperimentalParseExampleDataset, ParseExampleDatasetKernel);
KERNEL(ParseExampleDataset, ParseExampleDatasetKernel);
KERNEL(ParseExampleDatasetV2, ParseExampleDatasetKernel);

}  // namespace
}  // namespace sluice
