// Lookup tables that are hash maps. Keys are scalars. Their bytes are stored, so that one class can
// hold keys of any type.
#ifndef SLUICE_OPS_LOOKUP_HASH_TABLE_H_
#define SLUICE_OPS_LOOKUP_HASH_TABLE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "graph/shared_mutex.h"
#include "ops/lookup/table.h"

namespace sluice {

// A map from keys to rows of values. Thread safety: none.
class KeyedRows {
 public:
  explicit KeyedRows(const TableSpec& spec)
      : key_type_(spec.key_type),
        value_type_(spec.value_type),
        value_shape_(spec.value_shape),
        elements_(spec.value_shape.num_elements()) {}

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  // See LookupTable::Find.
  void Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const;
  // Gives key `i` the value in row `i` of `values`. RESOURCE_EXHAUSTED if there is no memory.
  absl::Status Set(const Tensor& keys, const Tensor& values, int64_t i);
  absl::Status SetAll(const Tensor& keys, const Tensor& values);
  void Remove(const Tensor& keys, int64_t i);
  void Clear();
  bool Contains(const Tensor& keys, int64_t i) const;
  // Whether the value of key `i` is row `i` of `values`. The key must exist.
  bool HasValue(const Tensor& keys, const Tensor& values, int64_t i) const;
  // The value of key `i` for messages. The key must exist.
  std::string ValueText(const Tensor& keys, int64_t i) const;
  // All keys, [size], and their values, [size, …].
  absl::StatusOr<LookupTable::Contents> All() const;

 private:
  absl::string_view Bytes(const Tensor& keys, int64_t i) const;
  absl::StatusOr<int64_t> FreeRow();

  DataType key_type_;
  DataType value_type_;
  TensorShape value_shape_;
  int64_t elements_;
  absl::flat_hash_map<std::string, int64_t> rows_;  // key to row of values_
  Tensor values_;                                   // [capacity, elements_]
  int64_t used_ = 0;                                // number of rows that have or had a key
  std::vector<int64_t> free_;                       // the used rows that have no key now
};

// A table that is filled once, by Initialize or Import. Filling it again with the same contents has
// no effect. Until the table is filled, Find returns FAILED_PRECONDITION and Export ABORTED. Insert
// and Remove return UNIMPLEMENTED.
class HashTable : public LookupTable {
 public:
  explicit HashTable(TableSpec spec) : LookupTable(std::move(spec)), rows_(this->spec()) {}
  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  absl::StatusOr<Contents> Export() const override;
  absl::Status Initialize(const Tensor& keys, const Tensor& values) override;

 private:
  absl::StatusOr<bool> HasSameContents(const Tensor& keys, const Tensor& values) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  mutable SharedMutex mutex_;
  KeyedRows rows_ ABSL_GUARDED_BY(mutex_);
  bool is_initialized_ ABSL_GUARDED_BY(mutex_) = false;
};

// A table that can change at any time.
class MutableHashTable : public LookupTable {
 public:
  explicit MutableHashTable(TableSpec spec) : LookupTable(std::move(spec)), rows_(this->spec()) {}
  int64_t size() const override;
  absl::Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const override;
  absl::Status Insert(const Tensor& keys, const Tensor& values) override;
  absl::Status Remove(const Tensor& keys) override;
  absl::Status Import(const Tensor& keys, const Tensor& values) override;
  absl::StatusOr<Contents> Export() const override;

 private:
  mutable SharedMutex mutex_;
  KeyedRows rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_HASH_TABLE_H_
