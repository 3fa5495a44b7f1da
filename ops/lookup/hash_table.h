// Tables over hash maps: one that gets its contents once, and one that changes.
//
// A key is kept as its bytes, so that one class serves all types; keys are scalars.
#ifndef SLUICE_OPS_LOOKUP_HASH_TABLE_H_
#define SLUICE_OPS_LOOKUP_HASH_TABLE_H_

#include <shared_mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ops/lookup/table.h"

namespace sluice {

// Values by key. Thread safety: none.
class KeyedRows {
 public:
  KeyedRows(DataType key_type, DataType value_type, int64_t elements_of_value)
      : key_type_(key_type), value_type_(value_type), elements_(elements_of_value) {}

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  // Copies the value of key `i` of `keys` to row `i` of `values`; false where there is none.
  bool Get(const Tensor& keys, int64_t i, Tensor* values) const;
  // RESOURCE_EXHAUSTED where there is no memory for one more value.
  absl::Status Set(const Tensor& keys, const Tensor& values, int64_t i);
  absl::Status SetAll(const Tensor& keys, const Tensor& values);
  void Remove(const Tensor& keys, int64_t i);
  void Clear();
  // Whether the value of key `i` is row `i` of `values`. The key must be there.
  bool HasValue(const Tensor& keys, const Tensor& values, int64_t i) const;
  bool Contains(const Tensor& keys, int64_t i) const;
  // The value of key `i` as text, for messages.
  std::string ValueText(const Tensor& keys, int64_t i) const;
  // Keys [size], values [size, …].
  absl::StatusOr<LookupTable::Contents> All(const TensorShape& value_shape) const;

 private:
  absl::string_view Bytes(const Tensor& keys, int64_t i) const;
  absl::StatusOr<int64_t> FreeRow();

  DataType key_type_;
  DataType value_type_;
  int64_t elements_;
  absl::flat_hash_map<std::string, int64_t> rows_;  // row of `values_` by key
  Tensor values_;                                   // [capacity, elements_]
  int64_t used_ = 0;                                // rows of values_ that were ever used
  std::vector<int64_t> free_;                       // of these, the ones without a key
};

// Gets its contents once; initializing it again with the same is fine.
class HashTable : public LookupTable {
 public:
  explicit HashTable(TableSpec spec);
  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  absl::StatusOr<Contents> Export() const override;
  absl::Status Initialize(const Tensor& keys, const Tensor& values) override;

 private:
  absl::StatusOr<bool> HasSameContents(const Tensor& keys, const Tensor& values) const;
  mutable std::shared_mutex mutex_;
  KeyedRows rows_;               // guarded by mutex_
  bool is_initialized_ = false;  // guarded by mutex_
};

class MutableHashTable : public LookupTable {
 public:
  explicit MutableHashTable(TableSpec spec);
  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  absl::StatusOr<Contents> Export() const override;

 private:
  mutable std::shared_mutex mutex_;
  KeyedRows rows_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_HASH_TABLE_H_
