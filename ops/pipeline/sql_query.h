// Iterates over the rows that a query on an SQLite database returns.
//
// Thread safety: none.
// Errors: NOT_FOUND if the database cannot be opened; DATA_LOSS if the file is no database; UNKNOWN
// for a mistake in the query, as in TensorFlow; CANCELLED if the reading of the dataset is
// cancelled; INVALID_ARGUMENT if the numbers of columns and of types differ; and the codes that
// match SQLite's other errors.
// Messages of these errors are "<path>; <SQLite's message>".
// Files: SQLite opens the database itself, for reading only.
#ifndef SLUICE_OPS_PIPELINE_SQL_QUERY_H_
#define SLUICE_OPS_PIPELINE_SQL_QUERY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice {

class SqlQuery : public DatasetIterator {
 public:
  // `reading` must outlive the query. Its cancellation interrupts the query.
  static absl::StatusOr<std::unique_ptr<SqlQuery>> Open(const std::string& path,
                                                        const std::string& query,
                                                        std::vector<DataType> types,
                                                        const Reading& reading);
  ~SqlQuery() override;
  absl::StatusOr<bool> Next(Tensors* element) override;

 private:
  SqlQuery(std::string path, std::vector<DataType> types)
      : path_(std::move(path)), types_(std::move(types)) {}
  absl::Status Prepare(const std::string& query);
  absl::Status Check(int result, const char* what = "") const;
  Tensor Column(int i) const;

  const std::string path_;
  const std::vector<DataType> types_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;  // null at the end
};

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_SQL_QUERY_H_
