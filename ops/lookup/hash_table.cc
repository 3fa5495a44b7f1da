#include "ops/lookup/hash_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/status.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {

absl::string_view KeyedRows::Bytes(const Tensor& keys, int64_t i) const {
  if (key_type_ == DT_STRING) return keys.data<std::string>()[i];
  const size_t size = DataTypeSize(key_type_);
  return {static_cast<const char*>(keys.raw()) + static_cast<size_t>(i) * size, size};
}

void KeyedRows::Find(const Tensor& keys, const Tensor& default_value, Tensor* values) const {
  const bool one_for_all = default_value.shape() == value_shape_;
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const auto found = rows_.find(Bytes(keys, i));
    if (found != rows_.end()) {
      CopyRow(values_, found->second, elements_, values, i);
    } else {
      CopyRow(default_value, one_for_all ? 0 : i, elements_, values, i);
    }
  }
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
    SLUICE_ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(LimitedHeap(), value_type_, shape));
    if (used_ > 0) CopyElements(values_, 0, used_ * elements_, &larger, 0);
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
  return IsSameRow(values, i, values_, rows_.find(Bytes(keys, i))->second, elements_);
}

std::string KeyedRows::ValueText(const Tensor& keys, int64_t i) const {
  const int64_t row = rows_.find(Bytes(keys, i))->second;
  return values_.SliceRows(row, row + 1).SummarizeValues(1);
}

absl::StatusOr<LookupTable::Contents> KeyedRows::All() const {
  TensorShape shape({size()});
  LookupTable::Contents all;
  SLUICE_ASSIGN_OR_RETURN(all.keys, Tensor::Allocate(LimitedHeap(), key_type_, shape));
  for (int64_t d : value_shape_.dims()) shape.AddDim(d);
  SLUICE_ASSIGN_OR_RETURN(all.values, Tensor::Allocate(LimitedHeap(), value_type_, shape));
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

int64_t HashTable::size() const {
  ReaderLock lock(&mutex_);
  return rows_.size();
}

absl::Status HashTable::Find(const Tensor& keys, const Tensor& default_value,
                             Tensor* values) const {
  SLUICE_RETURN_IF_ERROR(CheckDefault(keys, default_value));
  ReaderLock lock(&mutex_);
  if (!is_initialized_) return absl::FailedPreconditionError("Table not initialized.");
  rows_.Find(keys, default_value, values);
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
  ReaderLock lock(&mutex_);
  if (!is_initialized_) return absl::AbortedError("HashTable is not initialized.");
  return rows_.All();
}

absl::StatusOr<bool> HashTable::HasSameContents(const Tensor& keys, const Tensor& values) const {
  KeyedRows seen(spec());
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    if (!rows_.Contains(keys, i) || !rows_.HasValue(keys, values, i)) return false;
    SLUICE_RETURN_IF_ERROR(seen.Set(keys, values, i));
  }
  return seen.size() == rows_.size();
}

absl::Status HashTable::Initialize(const Tensor& keys, const Tensor& values) {
  WriterLock lock(&mutex_);
  if (is_initialized_) {
    SLUICE_ASSIGN_OR_RETURN(const bool is_same, HasSameContents(keys, values));
    if (is_same) return absl::OkStatus();
    return absl::FailedPreconditionError("Table was already initialized with different data.");
  }
  KeyedRows rows(spec());
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

int64_t MutableHashTable::size() const {
  ReaderLock lock(&mutex_);
  return rows_.size();
}

absl::Status MutableHashTable::Find(const Tensor& keys, const Tensor& default_value,
                                    Tensor* values) const {
  SLUICE_RETURN_IF_ERROR(CheckDefault(keys, default_value));
  ReaderLock lock(&mutex_);
  rows_.Find(keys, default_value, values);
  return absl::OkStatus();
}

absl::Status MutableHashTable::Insert(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  WriterLock lock(&mutex_);
  return rows_.SetAll(keys, values);
}

absl::Status MutableHashTable::Remove(const Tensor& keys) {
  WriterLock lock(&mutex_);
  for (int64_t i = 0; i < keys.num_elements(); ++i) rows_.Remove(keys, i);
  return absl::OkStatus();
}

absl::Status MutableHashTable::Import(const Tensor& keys, const Tensor& values) {
  SLUICE_RETURN_IF_ERROR(CheckValues(keys, values));
  WriterLock lock(&mutex_);
  rows_.Clear();
  return rows_.SetAll(keys, values);
}

absl::StatusOr<LookupTable::Contents> MutableHashTable::Export() const {
  ReaderLock lock(&mutex_);
  return rows_.All();
}

}  // namespace sluice
