// The kernel of datasets whose elements are the rows that an SQL query returns.
#include <algorithm>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/pipeline/sql_query.h"

namespace sluice {
namespace {

constexpr DataType kColumnTypes[] = {DT_STRING, DT_INT8,   DT_INT16, DT_INT32, DT_INT64,
                                     DT_UINT8,  DT_UINT16, DT_BOOL,  DT_DOUBLE};

absl::Status CheckColumns(const KernelContext& c, const std::vector<DataType>& types) {
  for (DataType type : types) {
    const bool known = std::count(std::begin(kColumnTypes), std::end(kColumnTypes), type) > 0;
    SLUICE_INVALID_IF(!known,
                      "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, "
                      "DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE, got ",
                      DataTypeName(type));
  }
  for (const auto& shape : c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {})) {
    SLUICE_INVALID_IF(shape.rank() != 0, "Each element of `output_shapes_` must be a scalar.");
  }
  return absl::OkStatus();
}

absl::StatusOr<DatasetPointer> SqlDataset(const KernelContext& c) {
  const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
  SLUICE_RETURN_IF_ERROR(CheckColumns(c, types));
  SLUICE_ASSIGN_OR_RETURN(const auto driver, ScalarInput<std::string>(c, "driver_name"));
  SLUICE_ASSIGN_OR_RETURN(const auto path, ScalarInput<std::string>(c, "data_source_name"));
  SLUICE_ASSIGN_OR_RETURN(const auto query, ScalarInput<std::string>(c, "query"));
  SLUICE_INVALID_IF(driver != "sqlite", "The database type, ", driver,
                    ", is not supported by SqlDataset. The set of supported databases is: "
                    "{'sqlite'}.");
  return MakeDataset({}, [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    // The query runs when the first row is read.
    return MakeIterator([=, &reading, rows = std::shared_ptr<SqlQuery>()](
                            Tensors* element) mutable -> absl::StatusOr<bool> {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      if (rows == nullptr) {
        SLUICE_ASSIGN_OR_RETURN(rows, SqlQuery::Open(path, query, types, reading));
      }
      return rows->Next(element);
    });
  });
}

KERNEL(ExperimentalSqlDataset, DatasetKernel<SqlDataset>);
KERNEL(SqlDataset, DatasetKernel<SqlDataset>);

}  // namespace
}  // namespace sluice
