// The kernel of datasets of LMDB databases.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/io/lmdb_database.h"

namespace sluice {
namespace {

absl::StatusOr<DatasetPointer> LmdbDataset(const KernelContext& c) {
  const Tensor& names = c.input(0);
  SLUICE_INVALID_IF(names.rank() > 1, "`filenames` must be a scalar or a vector.");
  const auto given = names.flat<std::string>();
  const std::vector<std::string> files(given.begin(), given.end());
  return MakeDataset({}, [files](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator(
        [files, &reading, next = size_t{0}, database = std::shared_ptr<LmdbDatabase>()](
            Tensors* element) mutable -> absl::StatusOr<bool> {
          while (true) {
            SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
            if (database == nullptr) {
              if (next == files.size()) return false;
              SLUICE_ASSIGN_OR_RETURN(database, LmdbDatabase::Open(files[next++]));
            }
            std::string key, value;
            const absl::StatusOr<bool> any = database->Next(&key, &value);
            if (any.ok() && *any) {
              *element = {Tensor::Scalar(std::move(key)), Tensor::Scalar(std::move(value))};
              return true;
            }
            database = nullptr;
            if (!any.ok()) return any.status();
          }
        });
  });
}

KERNEL(ExperimentalLMDBDataset, DatasetKernel<LmdbDataset>);
KERNEL(LMDBDataset, DatasetKernel<LmdbDataset>);

}  // namespace
}  // namespace sluice
