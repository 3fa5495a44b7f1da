// Records of an embedding table as tensors, for exports and checkpoints.
//
// Thread safety: as RowStore's.
#ifndef SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
#define SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "ops/embedding/row_store.h"

namespace sluice {

struct RecordTensors {
  Tensor keys;    // int64 [n]
  Tensor rows;    // [n, dim], of the table's type
  Tensor slots;   // [n, slots, dim]
  Tensor counts;  // int64 [n]
  Tensor steps;   // int64 [n]
};

// The records among numbers [begin, end). Each is consistent by itself. RESOURCE_EXHAUSTED.
absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end);

// Adds the records whose keys `accepts` accepts, and replaces those of keys that exist.
// INVALID_ARGUMENT, with `what` first, if types or shapes do not fit the table.
absl::Status ImportRecords(const std::string& what, const RecordTensors& records,
                           absl::FunctionRef<bool(int64_t key)> accepts, RowStore& store);

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
