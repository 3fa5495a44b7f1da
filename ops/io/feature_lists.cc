#include "ops/io/feature_lists.h"

#include <algorithm>
#include <cstring>

#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

// The feature lists with one key, of all examples.
class Lists {
 public:
  Lists(absl::Span<const pb::FeatureLists* const> examples, absl::Span<const std::string> names,
        BatchForm form, const std::string& key, DataType dtype)
      : names_(names), form_(form), key_(key), dtype_(dtype) {
    for (const pb::FeatureLists* example : examples) {
      const auto found = example->feature_list().find(key);
      lists_.push_back(found == example->feature_list().end() ? nullptr : &found->second);
    }
  }

  size_t size() const { return lists_.size(); }
  bool has(size_t i) const { return lists_[i] != nullptr; }
  int steps(size_t i) const { return has(i) ? lists_[i]->feature_size() : 0; }
  const pb::Feature& step(size_t i, int t) const { return lists_[i]->feature(t); }
  int64_t count(size_t i, int t) const { return std::max<int64_t>(NumValues(&step(i, t)), 0); }
  BatchForm form() const { return form_; }
  bool is_batch() const { return form_ == BatchForm::kBatch; }
  DataType dtype() const { return dtype_; }
  const std::string& key() const { return key_; }
  std::string name(size_t i) const { return names_.empty() ? "<unknown>" : names_[i]; }

  int64_t most_steps() const {
    int most = 0;
    for (size_t i = 0; i < size(); ++i) most = std::max(most, steps(i));
    return most;
  }
  int64_t total_values() const {
    int64_t total = 0;
    for (size_t i = 0; i < size(); ++i) {
      for (int t = 0; t < steps(i); ++t) total += count(i, t);
    }
    return total;
  }

  absl::Status CheckTypes() const {
    for (size_t i = 0; i < size(); ++i) {
      for (int t = 0; t < steps(i); ++t) {
        const DataType found = FeatureType(&step(i, t));
        if (found == DT_INVALID || found == dtype_) continue;
        return InvalidArgument("Name: ", name(i), ", Feature list: ", key_, ", Index: ", t,
                               ".  Data types don't match. Expected type: ", DataTypeName(dtype_),
                               "  Feature is: ", DataTypeName(found));
      }
    }
    return absl::OkStatus();
  }

  // Returns the concatenated values of all steps.
  absl::StatusOr<Tensor> Values(Allocator& allocator) const {
    SLUICE_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(allocator, dtype_, {total_values()}));
    int64_t at = 0;
    for (size_t i = 0; i < size(); ++i) {
      for (int t = 0; t < steps(i); ++t) {
        CopyValues(step(i, t), &out, at);
        at += count(i, t);
      }
    }
    return out;
  }

 private:
  const absl::Span<const std::string> names_;
  const BatchForm form_;
  const std::string& key_;
  const DataType dtype_;
  std::vector<const pb::FeatureList*> lists_;
};

// Returns a tensor of zeros or empty strings.
absl::StatusOr<Tensor> Zeros(Allocator& allocator, DataType dtype, const TensorShape& shape) {
  SLUICE_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(allocator, dtype, shape));
  if (dtype != DT_STRING && out.bytes() > 0) std::memset(out.raw(), 0, out.bytes());
  return out;
}

absl::Status AddDense(const Lists& lists, const DenseFeatureList& spec, Allocator& allocator,
                      ParsedFeatureLists* parsed) {
  int64_t length = 1;
  for (int64_t dim : spec.shape.dims()) length = SaturatedProduct(length, dim);
  std::vector<int64_t> sizes(spec.shape.dims().begin(), spec.shape.dims().end());
  sizes.insert(sizes.begin(), lists.most_steps());
  if (lists.is_batch()) sizes.insert(sizes.begin(), static_cast<int64_t>(lists.size()));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
  SLUICE_ASSIGN_OR_RETURN(Tensor values, Zeros(allocator, lists.dtype(), shape));
  Tensor lengths(DT_INT64, lists.is_batch() ? TensorShape({static_cast<int64_t>(lists.size())})
                                            : TensorShape());
  for (size_t i = 0; i < lists.size(); ++i) {
    SLUICE_INVALID_IF(!lists.has(i) && !spec.may_be_missing, "Name: ", lists.name(i),
                      ", Feature list '", spec.key,
                      "' is required but could not be found.  Did you mean to include it in "
                      "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?");
    lengths.data<int64_t>()[i] = lists.steps(i);
    for (int t = 0; t < lists.steps(i); ++t) {
      SLUICE_INVALID_IF(lists.count(i, t) != length, "Name: ", lists.name(i), ", Key: ", spec.key,
                        ", Index: ", t, ".  Number of ",
                        lists.is_batch() ? "" : StrCat(DataTypeName(lists.dtype()), " "),
                        "values != expected.  values size: ", lists.count(i, t),
                        " but output shape: ", spec.shape.ToString());
      const int64_t row = static_cast<int64_t>(i) * lists.most_steps() + t;
      CopyValues(lists.step(i, t), &values, row * length);
    }
  }
  parsed->dense_values.push_back(std::move(values));
  parsed->dense_lengths.push_back(std::move(lengths));
  return absl::OkStatus();
}

absl::Status AddSparse(const Lists& lists, Allocator& allocator, ParsedFeatureLists* parsed) {
  SLUICE_ASSIGN_OR_RETURN(Tensor values, lists.Values(allocator));
  const int64_t rank = lists.is_batch() ? 3 : 2;
  SLUICE_ASSIGN_OR_RETURN(Tensor indices,
                          Tensor::Allocate(allocator, DT_INT64, {values.num_elements(), rank}));
  int64_t* index = indices.data<int64_t>();
  int64_t longest = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    for (int t = 0; t < lists.steps(i); ++t) {
      longest = std::max(longest, lists.count(i, t));
      for (int64_t k = 0; k < lists.count(i, t); ++k) {
        if (rank == 3) *index++ = static_cast<int64_t>(i);
        *index++ = t;
        *index++ = k;
      }
    }
  }
  parsed->sparse_indices.push_back(std::move(indices));
  parsed->sparse_values.push_back(std::move(values));
  const int64_t most = lists.most_steps(), examples = static_cast<int64_t>(lists.size());
  parsed->sparse_shapes.push_back(rank == 3 ? Tensor::Vector<int64_t>({examples, most, longest})
                                            : Tensor::Vector<int64_t>({most, longest}));
  return absl::OkStatus();
}

template <typename T>
void AddSplits(const Lists& lists, ParsedFeatureLists* parsed) {
  std::vector<T> outer = {0}, inner = {0};
  for (size_t i = 0; i < lists.size(); ++i) {
    outer.push_back(static_cast<T>(outer.back() + lists.steps(i)));
    for (int t = 0; t < lists.steps(i); ++t) {
      inner.push_back(static_cast<T>(inner.back() + static_cast<T>(lists.count(i, t))));
    }
  }
  if (!lists.is_batch()) outer.clear();  // a single example needs no splits
  parsed->ragged_outer_splits.push_back(Tensor::Vector<T>(absl::MakeConstSpan(outer)));
  parsed->ragged_inner_splits.push_back(Tensor::Vector<T>(absl::MakeConstSpan(inner)));
}

}  // namespace

absl::StatusOr<ParsedFeatureLists> ParseFeatureLists(
    absl::Span<const pb::FeatureLists* const> examples, absl::Span<const std::string> names,
    const FeatureListSpecs& specs, BatchForm form, Allocator& allocator) {
  ParsedFeatureLists parsed;
  for (const DenseFeatureList& spec : specs.dense) {
    const Lists lists(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(lists.CheckTypes());
    SLUICE_RETURN_IF_ERROR(AddDense(lists, spec, allocator, &parsed));
  }
  for (const SparseFeature& spec : specs.sparse) {
    const Lists lists(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(lists.CheckTypes());
    SLUICE_RETURN_IF_ERROR(AddSparse(lists, allocator, &parsed));
  }
  for (const RaggedFeature& spec : specs.ragged) {
    const Lists lists(examples, names, form, spec.key, spec.dtype);
    SLUICE_RETURN_IF_ERROR(lists.CheckTypes());
    SLUICE_ASSIGN_OR_RETURN(Tensor values, lists.Values(allocator));
    parsed.ragged_values.push_back(std::move(values));
    spec.split_type == DT_INT32 ? AddSplits<int32_t>(lists, &parsed)
                                : AddSplits<int64_t>(lists, &parsed);
  }
  return parsed;
}

}  // namespace sluice
