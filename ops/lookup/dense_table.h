// A table in two tensors, a row of each a bucket: keys and values. Two keys stand for buckets that
// are empty and that were emptied. The layout is TensorFlow's (hashes, probing, growth), since it
// is what Export gives and what a checkpoint holds.
#ifndef SLUICE_OPS_LOOKUP_DENSE_TABLE_H_
#define SLUICE_OPS_LOOKUP_DENSE_TABLE_H_

#include <shared_mutex>

#include "ops/lookup/table.h"

namespace sluice {

struct DenseTableOptions {
  TableSpec spec;
  Tensor empty_key;  // of the key's shape
  Tensor deleted_key;
  int64_t buckets = 0;        // a power of two, at least 4
  float max_load_factor = 0;  // in (0, 1)
};

class DenseTable : public LookupTable {
 public:
  // INVALID_ARGUMENT on options that do not fit.
  static absl::StatusOr<std::shared_ptr<LookupTable>> Make(DenseTableOptions options);

  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  // Buckets as Export gives them, or any keys and values.
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  // The buckets: [buckets, elements of a key], [buckets, elements of a value].
  absl::StatusOr<Contents> Export() const override;

 private:
  explicit DenseTable(DenseTableOptions options);

  // Which bucket has the key, or -1.
  int64_t BucketOf(const Tensor& keys, int64_t i) const;
  // INVALID_ARGUMENT where it is the empty or the deleted key.
  absl::Status CheckKey(const Tensor& keys, int64_t i) const;
  absl::Status CheckKeys(const Tensor& keys) const;
  bool IsReserved(const Tensor& keys, int64_t i) const;
  uint64_t HashOf(const Tensor& keys, int64_t i) const;
  bool IsSameKey(const Tensor& a, int64_t i, const Tensor& b, int64_t j) const;
  // RESOURCE_EXHAUSTED where there is no memory for so many; then the buckets are as they were.
  absl::Status ClearBuckets(int64_t count);
  void Put(const Tensor& keys, const Tensor& values, int64_t i);
  // Room for as many more keys.
  absl::Status Grow(int64_t keys);

  const DenseTableOptions options_;
  const int64_t key_elements_;
  const int64_t value_elements_;
  mutable std::shared_mutex mutex_;
  // All guarded by mutex_.
  Tensor key_buckets_;
  Tensor value_buckets_;
  int64_t count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_DENSE_TABLE_H_
