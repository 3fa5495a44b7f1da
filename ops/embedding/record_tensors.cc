#include "ops/embedding/record_tensors.h"

#include <algorithm>
#include <vector>

#include "graph/status.h"

namespace sluice {
namespace {

absl::Status Expect(const std::string& what, std::string_view name, const Tensor& t, DataType dtype,
                    const TensorShape& shape) {
  if (t.dtype() == dtype && t.shape() == shape) return absl::OkStatus();
  return InvalidArgument(what, ": expected ", name, " of type ", DataTypeName(dtype), " and shape ",
                         shape.ToString(), ", got ", DataTypeName(t.dtype()), " and ",
                         t.shape().ToString());
}

absl::Status CheckRecords(const std::string& what, const RecordTensors& r,
                          const RowStoreOptions& table, int64_t slots) {
  const int64_t n = r.keys.num_elements();
  const TensorShape column({n});
  SLUICE_RETURN_IF_ERROR(Expect(what, "keys", r.keys, DT_INT64, column));
  SLUICE_RETURN_IF_ERROR(Expect(what, "rows", r.rows, table.dtype, TensorShape({n, table.dim})));
  SLUICE_RETURN_IF_ERROR(
      Expect(what, "slots", r.slots, table.dtype, TensorShape({n, slots, table.dim})));
  SLUICE_RETURN_IF_ERROR(Expect(what, "counts", r.counts, DT_INT64, column));
  return Expect(what, "steps", r.steps, DT_INT64, column);
}

}  // namespace

absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end) {
  const RowStore::Contents contents =
      store.Export(static_cast<Records::Number>(begin), static_cast<Records::Number>(end));
  const auto n = static_cast<int64_t>(contents.keys.size());
  const auto& [dtype, dim] = std::pair(store.options().dtype, store.options().dim);
  RecordTensors r;
  SLUICE_ASSIGN_OR_RETURN(r.keys, Tensor::Allocate(Heap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.rows, Tensor::Allocate(Heap(), dtype, TensorShape({n, dim})));
  SLUICE_ASSIGN_OR_RETURN(r.slots,
                          Tensor::Allocate(Heap(), dtype, TensorShape({n, store.slots(), dim})));
  SLUICE_ASSIGN_OR_RETURN(r.counts, Tensor::Allocate(Heap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.steps, Tensor::Allocate(Heap(), DT_INT64, TensorShape({n})));
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
  const int64_t slots = store.slots(), row_bytes = store.row_bytes();
  SLUICE_RETURN_IF_ERROR(CheckRecords(what, r, store.options(), slots));
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
