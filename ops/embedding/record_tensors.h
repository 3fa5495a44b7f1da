// Records of an embedding table as tensors, for exports and checkpoints.
//
// Thread safety: as RowStore's.
#ifndef SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
#define SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>

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

// The tensors and their names in checkpoints.
struct RecordColumn {
  const char* name;
  Tensor RecordTensors::*tensor;
};
inline constexpr std::array<RecordColumn, 5> kRecordColumns = {{{"keys", &RecordTensors::keys},
                                                                {"rows", &RecordTensors::rows},
                                                                {"slots", &RecordTensors::slots},
                                                                {"counts", &RecordTensors::counts},
                                                                {"steps", &RecordTensors::steps}}};
// Type and shape of each tensor, in the order of kRecordColumns.
using RecordTypes = std::array<std::pair<DataType, TensorShape>, 5>;

// The records among numbers [begin, end). Each is consistent by itself. RESOURCE_EXHAUSTED.
absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end);

// INVALID_ARGUMENT, with a message that begins with `what`, if the table cannot have such records.
// A table without slots (of a graph without an optimizer) accepts records with any number of slots.
absl::Status CheckRecords(const std::string& what, const RecordTypes& types, const RowStore& store);

// Adds the records whose keys `accepts` accepts, and replaces existing records of these keys. A
// table without slots ignores the slots of the records. Errors: those of CheckRecords.
absl::Status ImportRecords(const std::string& what, const RecordTensors& records,
                           absl::FunctionRef<bool(int64_t key)> accepts, RowStore& store);

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
