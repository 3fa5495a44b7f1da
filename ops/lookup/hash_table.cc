#include "ops/lookup/hash_table.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "graph/status.h"

namespace sluice {

// --- values by key

absl::string_view KeyedRows::Bytes(const Tensor& keys, int64_t i) const {
  if (key_type_ == DT_STRING) return keys.data<std::string>()[i];
  const size_t size = DataTypeSize(key_type_);
  return {static_cast<const char*>(keys.raw()) + static_cast<size_t>(i) * size, size};
}

bool KeyedRows::Get(const Tensor& keys, int64_t i, Tensor* values) const {
  const auto found = rows_.find(Bytes(keys, i));
  if (found == rows_.end()) return false;
  CopyRow(values_, found->second, elements_, values, i);
  return true;
}

bool KeyedRows::Contains(const Tensor& keys, int64_t i) const {
  return rows_.contains(Bytes(keys, i));
}

absl::StatusOr<int64_t> KeyedRows::FreeRow() {
  if (!free_.empty()) {
    const int64_t row = free_.back();
    free_.pop_back();
    return row;
  }
  const int64_t capacity = values_.IsInitialized() ? values_.dim(0) : 0;
  if (used_ == capacity) {
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({std::max<int64_t>(16, 2 * capacity), elements_}));
    SLUICE_ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(Heap(), value_type_, shape));
    for (int64_t row = 0; row < used_; ++row) CopyRow(values_, row, elements_, &larger, row);
    values_ = std::move(larger);
  }
  return used_++;
}

absl::Status KeyedRows::Set(const Tensor& keys, const Tensor& values, int64_t i) {
  const auto [place, is_new] = rows_.try_emplace(Bytes(keys, i), 0);
  if (is_new) {
    const absl::StatusOr<int64_t> row = FreeRow();
    if (!row.ok()) {
      rows_.erase(place);
      return row.status();
    }
    place->second = *row;
  }
  CopyRow(values, i, elements_, &values_, place->second);
  return absl::OkStatus();
}

absl::Status KeyedRows::SetAll(const Tensor& keys, const Tensor& values) {
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    SLUICE_RETURN_IF_ERROR(Set(keys, values, i));
  }
  return absl::OkStatus();
}

void KeyedRows::Remove(const Tensor& keys, int64_t i) {
  const auto found = rows_.find(Bytes(keys, i));
  if (found == rows_.end()) return;
  free_.push_back(found->second);
  rows_.erase(found);
}

void KeyedRows::Clear() {
  rows_.clear();
  free_.clear();
  values_.Clear();
  used_ = 0;
}

bool KeyedRows::HasValue(const Tensor& keys, const Tensor& values, int64_t i) const {
  const int64_t row = rows_.find(Bytes(keys, i))->second;
  if (value_type_ == DT_STRING) {
    return std::equal(values.data<std::string>() + i * elements_,
                      values.data<std::string>() + (i + 1) * elements_,
                      values_.data<std::string>() + row * elements_);
  }
  const size_t bytes = DataTypeSize(value_type_) * static_cast<size_t>(elements_);
  return std::memcmp(static_cast<const char*>(values.raw()) + static_cast<size_t>(i) * bytes,
                     static_cast<const char*>(values_.raw()) + static_cast<size_t>(row) * bytes,
                     bytes) == 0;
}

std::string KeyedRows::ValueText(const Tensor& keys, int64_t i) const {
  const int64_t row = rows_.find(Bytes(keys, i))->second;
  return values_.SliceRows(row, row + 1).SummarizeValues(1);
}

absl::StatusOr<LookupTable::Contents> KeyedRows::All(const TensorShape& value_shape) const {
  TensorShape shape({size()});
  LookupTable::Contents all;
  SLUICE_ASSIGN_OR_RETURN(all.keys, Tensor::Allocate(Heap(), key_type_, shape));
  for (int64_t d : value_shape.dims()) shape.AddDim(d);
  SLUICE_ASSIGN_OR_RETURN(all.values, Tensor::Allocate(Heap(), value_type_, shape));
  int64_t i = 0;
  for (const auto& [key, row] : rows_) {
    if (key_type_ == DT_STRING) {
      all.keys.data<std::string>()[i] = key;
    } else {
      std::memcpy(static_cast<char*>(all.keys.raw()) + static_cast<size_t>(i) * key.size(),
                  key.data(), key.size());
    }
    CopyRow(values_, row, elements_, &all.values, i++);
  }
  return all;
}

namespace {

KeyedRows RowsFor(const TableSpec& spec) {
  return KeyedRows(spec.key_type, spec.value_type, spec.value_shape.num_elements());
}

void FindIn(const KeyedRows& rows, const TableSpec& spec, const Tensor& keys,
            const Tensor& default_value, Tensor* values) {
  const int64_t elements = spec.value_shape.num_elements();
  const bool one_for_all = default_value.shape() == spec.value_shape;
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    if (rows.Get(keys, i, values)) continue;
    CopyRow(default_value, one_for_all ? 0 : i, elements, values, i);
  }
}

}  // namespace

// --- one that gets its contents once

HashTable::HashTable(TableSpec spec) : LookupTable(std::move(spec)), rows_(RowsFor(this->spec())) {}

int64_t HashTable::size() const {
  std::shared_lock lock(mutex_);
  return rows_.size();
}

absl::Status HashTable::Find(const Tensor& keys, const Tensor& default_value,
                             Tensor* values) const {
  SLUICE_RETURN_IF_ERROR(CheckDefault(keys, default_value));
  std::shared_lock lock(mutex_);
  if (!is_initialized_) return absl::FailedPreconditionError("Table not initialized.");
  FindIn(rows_, spec(), keys, default_value, values);
  return absl::OkStatus();
}

absl::Status HashTable::Insert(const Tensor&, const Tensor&) {
  return absl::UnimplementedError(
      "Insert not supported by InitializableLookupTable implementations");
}

absl::Status HashTable::Remove(const Tensor&) {
  return absl::UnimplementedError(
      "Remove not supported by InitializableLookupTable implementations");
}

absl::Status HashTable::Import(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  return Initialize(keys, values);
}

absl::StatusOr<LookupTable::Contents> HashTable::Export() const {
  std::shared_lock lock(mutex_);
  if (!is_initialized_) return absl::AbortedError("HashTable is not initialized.");
  return rows_.All(spec().value_shape);
}

absl::StatusOr<bool> HashTable::HasSameContents(const Tensor& keys, const Tensor& values) const {
  KeyedRows seen = RowsFor(spec());
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    if (!rows_.Contains(keys, i) || !rows_.HasValue(keys, values, i)) return false;
    SLUICE_RETURN_IF_ERROR(seen.Set(keys, values, i));
  }
  return seen.size() == rows_.size();
}

absl::Status HashTable::Initialize(const Tensor& keys, const Tensor& values) {
  std::unique_lock lock(mutex_);
  if (is_initialized_) {
    SLUICE_ASSIGN_OR_RETURN(const bool is_same, HasSameContents(keys, values));
    if (is_same) return absl::OkStatus();
    return absl::FailedPreconditionError("Table was already initialized with different data.");
  }
  KeyedRows rows = RowsFor(spec());
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    if (rows.Contains(keys, i) && !rows.HasValue(keys, values, i)) {
      const auto text = [i](const Tensor& t) {
        return t.Reshaped({t.num_elements()}).SliceRows(i, i + 1).SummarizeValues(1);
      };
      return absl::FailedPreconditionError(
          StrCat("HashTable has different value for same key. Key ", text(keys), " has ",
                 rows.ValueText(keys, i), " and trying to add value ", text(values)));
    }
    SLUICE_RETURN_IF_ERROR(rows.Set(keys, values, i));
  }
  rows_ = std::move(rows);
  is_initialized_ = true;
  return absl::OkStatus();
}

// --- one that changes

MutableHashTable::MutableHashTable(TableSpec spec)
    : LookupTable(std::move(spec)), rows_(RowsFor(this->spec())) {}

int64_t MutableHashTable::size() const {
  std::shared_lock lock(mutex_);
  return rows_.size();
}

absl::Status MutableHashTable::Find(const Tensor& keys, const Tensor& default_value,
                                    Tensor* values) const {
  SLUICE_RETURN_IF_ERROR(CheckDefault(keys, default_value));
  std::shared_lock lock(mutex_);
  FindIn(rows_, spec(), keys, default_value, values);
  return absl::OkStatus();
}

absl::Status MutableHashTable::Insert(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  std::unique_lock lock(mutex_);
  return rows_.SetAll(keys, values);
}

absl::Status MutableHashTable::Remove(const Tensor& keys) {
  std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < keys.num_elements(); ++i) rows_.Remove(keys, i);
  return absl::OkStatus();
}

absl::Status MutableHashTable::Import(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  std::unique_lock lock(mutex_);
  rows_.Clear();
  return rows_.SetAll(keys, values);
}

absl::StatusOr<LookupTable::Contents> MutableHashTable::Export() const {
  std::shared_lock lock(mutex_);
  return rows_.All(spec().value_shape);
}

}  // namespace sluice
