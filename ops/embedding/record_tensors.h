// Converts records of an embedding table to tensors and back, for exports and checkpoints. A record
// has a key, its row, the optimizer's slots, the number of its updates and the step of the last
// one.
//
// In a checkpoint, a part of a table has these tensors, whose names begin with
// "<table>/<shard>-of-<num_shards>/":
//   <chunk>/keys, rows, slots, counts, steps  RecordTensors of some of the part's records
//   rules/steps                               the latest step, RowStore::update_calls, and
//                                             began_before and began_before_previously of
//                                             IdleLimits::State
//   rules/ages                                [n, 2]: steps, and milliseconds since they began
//   rules/waiting-<chunk>/keys, counts        keys that wait for admission, and how many updates
//                                             each of them had
//   rules/filter-<block>                      counters of the admission's filter from this block
//                                             on, [blocks, counters per block]
//
// Thread safety: that of RowStore.
#ifndef SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
#define SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

// A tensor of RecordTensors, and the end of its name in checkpoints.
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

// Returns the records whose numbers in the store are in [begin, end). Updates may run at the same
// time: each record is consistent, but one record may be newer than another. RESOURCE_EXHAUSTED if
// there is no memory.
absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end);

// INVALID_ARGUMENT, with a message that begins with `what`, if the table cannot have records of
// these types and shapes. A table without slots (of a graph without an optimizer) accepts records
// with any number of slots.
absl::Status CheckRecords(const std::string& what, const RecordTypes& types, const RowStore& store);

// Adds the records for whose keys `accepts` returns true, and replaces existing records of these
// keys. A table without slots ignores the slots of the records. Errors: those of CheckRecords.
absl::Status ImportRecords(const std::string& what, const RecordTensors& records,
                           absl::FunctionRef<bool(int64_t key)> accepts, RowStore& store);

struct TablePart {
  std::string table;
  int64_t shard = 0, num_shards = 1;
};

// SaveTable passes the tensors of a part of a table to `add`. Updates may run at the same time
// (ExportRecords). RESOURCE_EXHAUSTED if there is no memory for a tensor.
using AddTensor = absl::FunctionRef<absl::Status(const std::string& name, const Tensor& tensor)>;
absl::Status SaveTable(RowStore& store, const TablePart& part, AddTensor add);

// The tensors of a checkpoint, from which RestoreTable reads a table.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // The name of the checkpoint for messages.
  virtual std::string Describe() const = 0;
  // The names of all tensors, in bytewise order.
  virtual std::vector<std::string> names() const = 0;
  virtual absl::StatusOr<std::pair<DataType, TensorShape>> TypeOf(
      const std::string& name) const = 0;
  virtual absl::StatusOr<Tensor> Read(const std::string& name) const = 0;
};

// Restores a part of a table: the records and the state of the rules. The checkpoint's table may
// have another number of parts, so the function keeps only records of keys that belong to `part`.
// If the table was updated or has records, every tensor is read once before the table changes, so
// that damaged files are found in time.
// Errors that leave the table unchanged: NOT_FOUND if the checkpoint does not have the table,
// DATA_LOSS if one of its parts is missing, INVALID_ARGUMENT if types or shapes differ, and those
// of this first reading. After other errors (no memory for the records, or a damaged file if the
// table is new) the table has only some of the saved records.
absl::Status RestoreTable(const TensorSource& checkpoint, const TablePart& part, RowStore& store);

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_RECORD_TENSORS_H_
