#include "ops/lookup/dense_table.h"

#include <cstring>
#include <utility>

#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "graph/tensor/sizes.h"
#include "ops/strings/hash.h"

namespace sluice {
namespace {

uint64_t Combined(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ULL + (a << 10) + (a >> 4));
}

uint64_t HashOfElement(const Tensor& keys, int64_t i) {
  switch (keys.dtype()) {
    case DT_INT32:
      return static_cast<uint64_t>(keys.data<int32_t>()[i]);
    case DT_INT64:
      return static_cast<uint64_t>(keys.data<int64_t>()[i]);
    default:
      return Hash64(keys.data<std::string>()[i]);
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<LookupTable>> DenseTable::Make(DenseTableOptions options) {
  const TensorShape& key_shape = options.empty_key.shape();
  SLUICE_INVALID_IF(key_shape.rank() > 1, "Empty key must be a scalar or a vector, got shape ",
                    key_shape.ToString());
  SLUICE_INVALID_IF(!(key_shape == options.deleted_key.shape()),
                    "Empty and deleted keys must have same shape, got shapes: ",
                    key_shape.ToString(), " and ", options.deleted_key.shape().ToString());
  SLUICE_INVALID_IF(!(options.max_load_factor > 0 && options.max_load_factor < 1),
                    "max_load_factor must be between 0 and 1, got: ", options.max_load_factor);
  SLUICE_INVALID_IF(
      options.buckets < 4 || (options.buckets & (options.buckets - 1)) != 0,
      "Number of buckets must be at least 4 and a power of 2, got: ", options.buckets);
  options.spec.key_shape = key_shape;
  const int64_t buckets = options.buckets;
  auto table = std::shared_ptr<DenseTable>(new DenseTable(std::move(options)));
  // This also rejects keys without elements, because they are always equal. Their buckets would
  // need no memory, so nothing would limit their number.
  SLUICE_INVALID_IF(table->IsSameKey(table->options_.empty_key, 0, table->options_.deleted_key, 0),
                    "Empty and deleted keys cannot be equal");
  {
    WriterLock lock(&table->mutex_);
    SLUICE_RETURN_IF_ERROR(table->ClearBuckets(buckets));
  }
  return std::shared_ptr<LookupTable>(std::move(table));
}

DenseTable::DenseTable(DenseTableOptions options)
    : LookupTable(options.spec),
      options_(std::move(options)),
      key_elements_(spec().key_shape.num_elements()),
      value_elements_(spec().value_shape.num_elements()) {}

absl::Status DenseTable::ClearBuckets(int64_t count) {
  const auto rows = [count](DataType type, int64_t elements) -> absl::StatusOr<Tensor> {
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({count, elements}));
    return Tensor::Allocate(LimitedHeap(), type, shape);
  };
  SLUICE_ASSIGN_OR_RETURN(Tensor keys, rows(spec().key_type, key_elements_));
  SLUICE_ASSIGN_OR_RETURN(value_buckets_, rows(spec().value_type, value_elements_));
  key_buckets_ = std::move(keys);
  for (int64_t i = 0; i < count; ++i) {
    CopyRow(options_.empty_key, 0, key_elements_, &key_buckets_, i);
  }
  if (DataTypeSize(spec().value_type) > 0 && value_buckets_.bytes() > 0) {
    std::memset(value_buckets_.raw(), 0, value_buckets_.bytes());
  }
  count_ = 0;
  return absl::OkStatus();
}

uint64_t DenseTable::HashOf(const Tensor& keys, int64_t i) const {
  if (key_elements_ == 1) return HashOfElement(keys, i);
  uint64_t hash = 0;
  for (int64_t k = 0; k < key_elements_; ++k) {
    hash = Combined(hash, HashOfElement(keys, i * key_elements_ + k));
  }
  return hash;
}

bool DenseTable::IsReserved(const Tensor& keys, int64_t i) const {
  return IsSameKey(keys, i, options_.empty_key, 0) || IsSameKey(keys, i, options_.deleted_key, 0);
}

absl::Status DenseTable::CheckKeys(const Tensor& keys) const {
  for (int64_t i = 0; i < CountOf(keys); ++i) {
    if (!IsReserved(keys, i)) continue;
    return InvalidArgument("Using the ",
                           IsSameKey(keys, i, options_.empty_key, 0) ? "empty_key" : "deleted_key",
                           " as a table key is not allowed");
  }
  return absl::OkStatus();
}

int64_t DenseTable::BucketOf(const Tensor& keys, int64_t i) const {
  const int64_t mask = key_buckets_.dim(0) - 1;
  int64_t bucket = static_cast<int64_t>(HashOf(keys, i)) & mask;
  for (int64_t probes = 1; probes <= mask + 1; ++probes) {
    if (IsSameKey(key_buckets_, bucket, keys, i)) return bucket;
    if (IsSameKey(key_buckets_, bucket, options_.empty_key, 0)) return -1;
    bucket = (bucket + probes) & mask;
  }
  return -1;
}

void DenseTable::Put(const Tensor& keys, const Tensor& values, int64_t i) {
  int64_t place = BucketOf(keys, i);
  if (place < 0) {
    const int64_t mask = key_buckets_.dim(0) - 1;
    place = static_cast<int64_t>(HashOf(keys, i)) & mask;
    for (int64_t probes = 1; !IsReserved(key_buckets_, place); ++probes) {
      place = (place + probes) & mask;
    }
    CopyRow(keys, i, key_elements_, &key_buckets_, place);
    ++count_;
  }
  CopyRow(values, i, value_elements_, &value_buckets_, place);
}

absl::Status DenseTable::Grow(int64_t keys) {
  int64_t buckets = key_buckets_.dim(0);
  const auto needed = static_cast<float>(count_ + keys);
  const auto is_full = [&] {
    return needed > static_cast<float>(buckets) * options_.max_load_factor;
  };
  if (!is_full()) return absl::OkStatus();
  // If the load factor is small, the product may overflow. There is no memory for so many buckets
  // anyway.
  while (is_full() && buckets < INT64_MAX) buckets = SaturatedProduct(buckets, 2);
  const Tensor old_keys = key_buckets_;
  const Tensor old_values = value_buckets_;
  SLUICE_RETURN_IF_ERROR(ClearBuckets(buckets));
  for (int64_t i = 0; i < old_keys.dim(0); ++i) {
    if (!IsReserved(old_keys, i)) Put(old_keys, old_values, i);
  }
  return absl::OkStatus();
}

int64_t DenseTable::size() const {
  ReaderLock lock(&mutex_);
  return count_;
}

absl::Status DenseTable::Find(const Tensor& keys, const Tensor& default_value,
                              Tensor* values) const {
  SLUICE_RETURN_IF_ERROR(CheckDefault(keys, default_value));
  SLUICE_RETURN_IF_ERROR(CheckKeys(keys));
  const bool one_for_all = default_value.shape() == spec().value_shape;
  ReaderLock lock(&mutex_);
  for (int64_t i = 0; i < CountOf(keys); ++i) {
    const int64_t bucket = BucketOf(keys, i);
    if (bucket >= 0) {
      CopyRow(value_buckets_, bucket, value_elements_, values, i);
    } else {
      CopyRow(default_value, one_for_all ? 0 : i, value_elements_, values, i);
    }
  }
  return absl::OkStatus();
}

absl::Status DenseTable::Insert(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  SLUICE_RETURN_IF_ERROR(CheckKeys(keys));
  WriterLock lock(&mutex_);
  SLUICE_RETURN_IF_ERROR(Grow(CountOf(keys)));
  for (int64_t i = 0; i < CountOf(keys); ++i) Put(keys, values, i);
  return absl::OkStatus();
}

absl::Status DenseTable::Remove(const Tensor& keys) {
  SLUICE_RETURN_IF_ERROR(ValuesShape(keys).status());
  SLUICE_RETURN_IF_ERROR(CheckKeys(keys));
  WriterLock lock(&mutex_);
  for (int64_t i = 0; i < CountOf(keys); ++i) {
    const int64_t bucket = BucketOf(keys, i);
    if (bucket < 0) continue;
    CopyRow(options_.deleted_key, 0, key_elements_, &key_buckets_, bucket);
    --count_;
  }
  return absl::OkStatus();
}

absl::Status DenseTable::Import(const Tensor& keys, const Tensor& values) {
  SLUICE_INVALID_IF(keys.rank() != 2 || keys.dim(1) != key_elements_, "Expected shape [?,",
                    key_elements_, "] for key, got ", keys.shape().ToString());
  const int64_t rows = keys.dim(0);
  SLUICE_INVALID_IF(!(values.shape() == TensorShape({rows, value_elements_})), "Expected shape [",
                    rows, ",", value_elements_, "] for value, got ", values.shape().ToString());
  SLUICE_INVALID_IF(rows < 4 || (rows & (rows - 1)) != 0,
                    "Expected a power of two of at least 4 buckets, got ", rows);
  SLUICE_ASSIGN_OR_RETURN(Tensor key_buckets, keys.Clone(LimitedHeap()));
  SLUICE_ASSIGN_OR_RETURN(Tensor value_buckets, values.Clone(LimitedHeap()));
  WriterLock lock(&mutex_);
  key_buckets_ = std::move(key_buckets);
  value_buckets_ = std::move(value_buckets);
  count_ = 0;
  for (int64_t i = 0; i < rows; ++i) count_ += IsReserved(key_buckets_, i) ? 0 : 1;
  return absl::OkStatus();
}

absl::StatusOr<LookupTable::Contents> DenseTable::Export() const {
  ReaderLock lock(&mutex_);
  SLUICE_ASSIGN_OR_RETURN(Tensor keys, key_buckets_.Clone(LimitedHeap()));
  SLUICE_ASSIGN_OR_RETURN(Tensor values, value_buckets_.Clone(LimitedHeap()));
  return Contents{.keys = std::move(keys), .values = std::move(values)};
}

}  // namespace sluice
