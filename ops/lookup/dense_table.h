// A hash table in two tensors, keys and values, with one row per bucket. Two reserved keys mark
// buckets that were never used and buckets whose key was removed. Hashes, probing and growth are as
// in TensorFlow, because exported tables and checkpoints contain the buckets.
#ifndef SLUICE_OPS_LOOKUP_DENSE_TABLE_H_
#define SLUICE_OPS_LOOKUP_DENSE_TABLE_H_

#include "graph/shared_mutex.h"
#include "ops/lookup/table.h"

namespace sluice {

struct DenseTableOptions {
  TableSpec spec;
  Tensor empty_key;  // has the shape of a key
  Tensor deleted_key;
  int64_t buckets = 0;        // the initial number: a power of two, at least 4
  float max_load_factor = 0;  // in (0, 1)
};

class DenseTable : public LookupTable {
 public:
  // INVALID_ARGUMENT if the options are invalid.
  static absl::StatusOr<std::shared_ptr<LookupTable>> Make(DenseTableOptions options);

  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  // Replaces the buckets by those that an Export returned.
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  // Returns the buckets: [buckets, elements of a key] and [buckets, elements of a value].
  absl::StatusOr<Contents> Export() const override;

 private:
  explicit DenseTable(DenseTableOptions options);

  // The bucket of key `i`, or -1 if the table does not have the key.
  int64_t BucketOf(const Tensor& keys, int64_t i) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // INVALID_ARGUMENT if one of the keys is reserved.
  absl::Status CheckKeys(const Tensor& keys) const;
  bool IsReserved(const Tensor& keys, int64_t i) const;
  uint64_t HashOf(const Tensor& keys, int64_t i) const;
  bool IsSameKey(const Tensor& a, int64_t i, const Tensor& b, int64_t j) const {
    return IsSameRow(a, i, b, j, key_elements_);
  }
  // Makes `count` empty buckets. If there is no memory, returns RESOURCE_EXHAUSTED and keeps the
  // old buckets.
  absl::Status ClearBuckets(int64_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Inserts key and value `i`. Uses the bucket that has the key, or otherwise the first bucket
  // without a key that probing finds.
  void Put(const Tensor& keys, const Tensor& values, int64_t i)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds buckets if `keys` additional keys require it. RESOURCE_EXHAUSTED if there is no memory.
  absl::Status Grow(int64_t keys) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DenseTableOptions options_;
  const int64_t key_elements_;
  const int64_t value_elements_;
  mutable SharedMutex mutex_;
  Tensor key_buckets_ ABSL_GUARDED_BY(mutex_);
  Tensor value_buckets_ ABSL_GUARDED_BY(mutex_);
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_DENSE_TABLE_H_
