#include "ops/io/parse_examples.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

// The features with one key, of all examples.
class Column {
 public:
  Column(absl::Span<const pb::Features* const> examples, absl::Span<const std::string> names,
         BatchForm form, const std::string& key, DataType dtype)
      : names_(names), form_(form), key_(key), dtype_(dtype) {
    features_.reserve(examples.size());
    for (const pb::Features* example : examples) features_.push_back(FindFeature(*example, key));
  }

  size_t size() const { return features_.size(); }
  // Returns null if the feature is missing or has no kind.
  const pb::Feature* operator[](size_t i) const {
    return NumValues(features_[i]) < 0 ? nullptr : features_[i];
  }
  int64_t count(size_t i) const { return std::max<int64_t>(NumValues(features_[i]), 0); }
  int64_t total() const {
    int64_t n = 0;
    for (size_t i = 0; i < size(); ++i) n += count(i);
    return n;
  }
  int64_t longest() const {
    int64_t n = 0;
    for (size_t i = 0; i < size(); ++i) n = std::max(n, count(i));
    return n;
  }

  absl::Status Error(size_t i, std::string_view text) const {
    return FeatureError(names_, key_, i, form_, text);
  }
  absl::Status Missing(size_t i) const {
    const std::string name =
        form_ == BatchForm::kSingle
            ? ""
            : StrCat("Name: ", names_.empty() ? std::string("<unknown>") : names_[i], ", ");
    return InvalidArgument(name, "Feature: ", key_, " (data type: ", DataTypeName(dtype_),
                           ") is required but could not be found.");
  }
  absl::Status CheckTypes(bool dense) const {
    for (size_t i = 0; i < size(); ++i) {
      const DataType found = FeatureType((*this)[i]);
      if (found == DT_INVALID || found == dtype_) continue;
      return Error(i, dense
                          ? StrCat("Data types don't match. Data type: ", DataTypeName(found),
                                   " but expected type: ", DataTypeName(dtype_))
                          : StrCat("Data types don't match. Expected type: ", DataTypeName(dtype_),
                                   ", Actual type: ", DataTypeName(found)));
    }
    return absl::OkStatus();
  }
  DataType dtype() const { return dtype_; }
  BatchForm form() const { return form_; }

 private:
  const absl::Span<const std::string> names_;
  const BatchForm form_;
  const std::string& key_;
  const DataType dtype_;
  std::vector<const pb::Feature*> features_;
};

// Allocates a tensor of shape [examples] + inner.
absl::StatusOr<Tensor> AllocateBatch(const Column& column, absl::Span<const int64_t> inner,
                                     Allocator& allocator) {
  std::vector<int64_t> sizes(inner.begin(), inner.end());
  if (column.form() == BatchForm::kBatch) {
    sizes.insert(sizes.begin(), static_cast<int64_t>(column.size()));
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
  return Tensor::Allocate(allocator, column.dtype(), shape);
}

absl::StatusOr<Tensor> FixedDense(const Column& column, const DenseFeature& spec,
                                  Allocator& allocator) {
  SLUICE_ASSIGN_OR_RETURN(Tensor out, AllocateBatch(column, spec.shape.dims(), allocator));
  const int64_t each = spec.elements();
  for (size_t i = 0; i < column.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * each;
    if (column[i] == nullptr) {
      if (spec.default_value.num_elements() == 0 && each > 0) return column.Missing(i);
      CopyElements(spec.default_value, 0, spec.default_value.num_elements(), &out, at);
      continue;
    }
    if (column.count(i) != each) {
      return column.Error(i, StrCat("Number of ", DataTypeName(spec.dtype),
                                    " values != expected.  Values size: ", column.count(i),
                                    " but output shape: ", spec.shape.ToString()));
    }
    CopyValues(*column[i], &out, at);
  }
  return out;
}

absl::StatusOr<Tensor> VariableDense(const Column& column, const DenseFeature& spec,
                                     Allocator& allocator) {
  const int64_t row = std::max<int64_t>(spec.elements(), 1);
  for (size_t i = 0; i < column.size(); ++i) {
    if (column.count(i) % row == 0) continue;
    return column.Error(i,
                        StrCat("Number of ", DataTypeName(spec.dtype),
                               " values is not a multiple of stride length. Saw ", column.count(i),
                               " values but output shape is: ", spec.shape.ToString()));
  }
  std::vector<int64_t> inner(spec.shape.dims().begin(), spec.shape.dims().end());
  inner[0] = column.longest() / row;
  SLUICE_ASSIGN_OR_RETURN(Tensor out, AllocateBatch(column, inner, allocator));
  const int64_t each = inner[0] * row;
  for (size_t i = 0; i < column.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * each;
    if (column[i] != nullptr) CopyValues(*column[i], &out, at);
    FillElements(spec.default_value, &out, at + column.count(i), each - column.count(i));
  }
  return out;
}

// Returns the concatenated values of all examples.
absl::StatusOr<Tensor> Values(const Column& column, Allocator& allocator) {
  SLUICE_ASSIGN_OR_RETURN(Tensor out,
                          Tensor::Allocate(allocator, column.dtype(), {column.total()}));
  int64_t at = 0;
  for (size_t i = 0; i < column.size(); ++i) {
    if (column[i] != nullptr) CopyValues(*column[i], &out, at);
    at += column.count(i);
  }
  return out;
}

absl::Status AddSparse(const Column& column, Allocator& allocator, ParsedFeatures* parsed) {
  SLUICE_RETURN_IF_ERROR(column.CheckTypes(false));
  SLUICE_ASSIGN_OR_RETURN(Tensor values, Values(column, allocator));
  const int64_t rank = column.form() == BatchForm::kBatch ? 2 : 1;
  SLUICE_ASSIGN_OR_RETURN(Tensor indices,
                          Tensor::Allocate(allocator, DT_INT64, {values.num_elements(), rank}));
  int64_t* index = indices.data<int64_t>();
  for (size_t i = 0; i < column.size(); ++i) {
    for (int64_t j = 0; j < column.count(i); ++j) {
      if (rank == 2) *index++ = static_cast<int64_t>(i);
      *index++ = j;
    }
  }
  parsed->sparse_indices.push_back(std::move(indices));
  parsed->sparse_values.push_back(std::move(values));
  const auto examples = static_cast<int64_t>(column.size());
  parsed->sparse_shapes.push_back(rank == 2 ? Tensor::Vector<int64_t>({examples, column.longest()})
                                            : Tensor::Vector<int64_t>({column.longest()}));
  return absl::OkStatus();
}

template <typename T>
Tensor Splits(const Column& column) {
  Tensor splits(kDataTypeOf<T>, {static_cast<int64_t>(column.size()) + 1});
  T at = 0;
  splits.data<T>()[0] = 0;
  for (size_t i = 0; i < column.size(); ++i) {
    splits.data<T>()[i + 1] = at = static_cast<T>(at + static_cast<T>(column.count(i)));
  }
  return splits;
}

absl::Status AddRagged(const Column& column, DataType split_type, Allocator& allocator,
                       ParsedFeatures* parsed) {
  SLUICE_RETURN_IF_ERROR(column.CheckTypes(false));
  SLUICE_ASSIGN_OR_RETURN(Tensor values, Values(column, allocator));
  parsed->ragged_values.push_back(std::move(values));
  if (column.form() == BatchForm::kSingle) {  // a single example needs no splits
    parsed->ragged_splits.emplace_back(split_type, TensorShape({0}));
  } else {
    parsed->ragged_splits.push_back(split_type == DT_INT32 ? Splits<int32_t>(column)
                                                           : Splits<int64_t>(column));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t NumValues(const pb::Feature* feature) {
  if (feature == nullptr) return -1;
  switch (feature->kind_case()) {
    case pb::Feature::kBytesList:
      return feature->bytes_list().value_size();
    case pb::Feature::kFloatList:
      return feature->float_list().value_size();
    case pb::Feature::kInt64List:
      return feature->int64_list().value_size();
    default:
      return -1;
  }
}

DataType FeatureType(const pb::Feature* feature) {
  if (feature == nullptr) return DT_INVALID;
  switch (feature->kind_case()) {
    case pb::Feature::kBytesList:
      return DT_STRING;
    case pb::Feature::kFloatList:
      return DT_FLOAT;
    case pb::Feature::kInt64List:
      return DT_INT64;
    default:
      return DT_INVALID;
  }
}

void CopyValues(const pb::Feature& feature, Tensor* to, int64_t at) {
  switch (feature.kind_case()) {
    case pb::Feature::kBytesList:
      std::copy(feature.bytes_list().value().begin(), feature.bytes_list().value().end(),
                to->data<std::string>() + at);
      break;
    case pb::Feature::kFloatList:
      std::copy(feature.float_list().value().begin(), feature.float_list().value().end(),
                to->data<float>() + at);
      break;
    case pb::Feature::kInt64List:
      std::copy(feature.int64_list().value().begin(), feature.int64_list().value().end(),
                to->data<int64_t>() + at);
      break;
    default:
      break;
  }
}

const pb::Feature* FindFeature(const pb::Features& features, const std::string& key) {
  const auto found = features.feature().find(key);
  return found == features.feature().end() ? nullptr : &found->second;
}

absl::Status FeatureError(absl::Span<const std::string> names, const std::string& key, size_t index,
                          BatchForm form, std::string_view text) {
  SLUICE_INVALID_IF(form == BatchForm::kSingle, "Key: ", key, ".  ", text);
  const std::string name = names.empty() ? "<unknown>" : names[index];
  return InvalidArgument("Name: ", name, ", Key: ", key, ", Index: ", index, ".  ", text);
}

absl::StatusOr<ParsedFeatures> ParseFeatures(absl::Span<const pb::Features* const> examples,
                                             absl::Span<const std::string> names,
                                             const FeatureSpecs& specs, BatchForm form,
                                             Allocator& allocator) {
  ParsedFeatures parsed;
  for (const DenseFeature& spec : specs.dense) {
    const Column column(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(column.CheckTypes(true));
    SLUICE_ASSIGN_OR_RETURN(Tensor values, spec.is_variable()
                                               ? VariableDense(column, spec, allocator)
                                               : FixedDense(column, spec, allocator));
    parsed.dense_values.push_back(std::move(values));
  }
  for (const SparseFeature& spec : specs.sparse) {
    const Column column(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(AddSparse(column, allocator, &parsed));
  }
  for (const RaggedFeature& spec : specs.ragged) {
    const Column column(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(AddRagged(column, spec.split_type, allocator, &parsed));
  }
  return parsed;
}

}  // namespace sluice
