#include "ops/embedding/record_tensors.h"

#include <algorithm>
#include <vector>

#include "graph/status.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {
namespace {

RecordTypes TypesOf(const RecordTensors& records) {
  RecordTypes types;
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = records.*kRecordColumns[i].tensor;
    types[i] = {t.dtype(), t.shape()};
  }
  return types;
}

// The types and shapes of `n` records of a table.
absl::StatusOr<RecordTypes> TypesOf(int64_t n, int64_t slots, const RowStoreOptions& table) {
  // Sizes from a file may be too large for a shape.
  SLUICE_ASSIGN_OR_RETURN(const TensorShape column, TensorShape::Make({n}));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape rows, TensorShape::Make({n, table.dim}));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape all_slots, TensorShape::Make({n, slots, table.dim}));
  return RecordTypes{{{DT_INT64, column},
                      {table.dtype, rows},
                      {table.dtype, all_slots},
                      {DT_INT64, column},
                      {DT_INT64, column}}};
}

// The number of slots in each record.
int64_t SlotsOf(const TensorShape& slots) { return slots.rank() == 3 ? slots.dim(1) : 0; }

}  // namespace

absl::Status CheckRecords(const std::string& what, const RecordTypes& types,
                          const RowStore& store) {
  const int64_t slots = store.slots() == 0 ? SlotsOf(types[2].second) : store.slots();
  SLUICE_ASSIGN_OR_RETURN(const RecordTypes expected,
                          TypesOf(types[0].second.num_elements(), slots, store.options()));
  for (size_t i = 0; i < types.size(); ++i) {
    SLUICE_INVALID_IF(types[i] != expected[i], what, ": expected ", kRecordColumns[i].name,
                      " of type ", DataTypeName(expected[i].first), " and shape ",
                      expected[i].second.ToString(), ", got ", DataTypeName(types[i].first),
                      " and ", types[i].second.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end) {
  const RowStore::Contents contents =
      store.Export(static_cast<Records::Number>(begin), static_cast<Records::Number>(end));
  const auto n = static_cast<int64_t>(contents.keys.size());
  const auto& [dtype, dim] = std::pair(store.options().dtype, store.options().dim);
  RecordTensors r;
  SLUICE_ASSIGN_OR_RETURN(r.keys, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.rows, Tensor::Allocate(LimitedHeap(), dtype, TensorShape({n, dim})));
  SLUICE_ASSIGN_OR_RETURN(
      r.slots, Tensor::Allocate(LimitedHeap(), dtype, TensorShape({n, store.slots(), dim})));
  SLUICE_ASSIGN_OR_RETURN(r.counts, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.steps, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  std::copy(contents.keys.begin(), contents.keys.end(), r.keys.data<int64_t>());
  std::copy(contents.rows.begin(), contents.rows.end(), static_cast<char*>(r.rows.raw()));
  std::copy(contents.counts.begin(), contents.counts.end(), r.counts.data<int64_t>());
  std::copy(contents.steps.begin(), contents.steps.end(), r.steps.data<int64_t>());
  // The store has them by slot, the tensor by key.
  char* slot = static_cast<char*>(r.slots.raw());
  for (int64_t i = 0; i < n; ++i) {
    for (const std::vector<char>& column : contents.slots) {
      slot = std::copy_n(column.data() + i * store.row_bytes(), store.row_bytes(), slot);
    }
  }
  return r;
}

absl::Status ImportRecords(const std::string& what, const RecordTensors& r,
                           absl::FunctionRef<bool(int64_t key)> accepts, RowStore& store) {
  SLUICE_RETURN_IF_ERROR(CheckRecords(what, TypesOf(r), store));
  const int64_t slots = store.slots(), row_bytes = store.row_bytes();
  const char* rows = static_cast<const char*>(r.rows.raw());
  const char* all_slots = static_cast<const char*>(r.slots.raw());
  std::vector<const char*> slot(static_cast<size_t>(slots));
  for (int64_t i = 0; i < r.keys.num_elements(); ++i) {
    const int64_t key = r.keys.data<int64_t>()[i];
    if (!accepts(key)) continue;
    for (int64_t s = 0; s < slots; ++s) {
      slot[static_cast<size_t>(s)] = all_slots + (i * slots + s) * row_bytes;
    }
    const auto count = std::clamp<int64_t>(r.counts.data<int64_t>()[i], 0, UINT32_MAX);
    const int64_t step = std::clamp<int64_t>(r.steps.data<int64_t>()[i], 0, INT64_MAX - 1);
    SLUICE_RETURN_IF_ERROR(
        store.Put(key, rows + i * row_bytes, slot, static_cast<uint32_t>(count), step));
  }
  return absl::OkStatus();
}

}  // namespace sluice
