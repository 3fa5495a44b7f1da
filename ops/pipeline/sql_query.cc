#include "ops/pipeline/sql_query.h"

#include <sqlite3.h>

#include <utility>

#include "executor/files/file_system.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusCode CodeOf(int result) {
  switch (result & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_NOTFOUND:
      return absl::StatusCode::kNotFound;
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_AUTH:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kCancelled;
    default:
      return absl::StatusCode::kUnknown;
  }
}

// Tells SQLite to interrupt the query after the reading has ended.
int HasEnded(void* reading) {
  return static_cast<const Reading*>(reading)->cancellation.IsWanted() ? 0 : 1;
}

template <typename T>
Tensor Number(int64_t value) {
  return Tensor::Scalar(static_cast<T>(value));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqlQuery>> SqlQuery::Open(const std::string& path,
                                                         const std::string& query,
                                                         std::vector<DataType> types,
                                                         const Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const std::string local, PathToMap(path));
  std::unique_ptr<SqlQuery> made(new SqlQuery(path, std::move(types)));
  SLUICE_RETURN_IF_ERROR(
      made->Check(sqlite3_open_v2(local.c_str(), &made->database_, SQLITE_OPEN_READONLY, nullptr)));
  constexpr int kInstructions = 10000;
  sqlite3_progress_handler(made->database_, kInstructions, HasEnded,
                           const_cast<Reading*>(&reading));
  SLUICE_RETURN_IF_ERROR(made->Prepare(query));
  return made;
}

SqlQuery::~SqlQuery() {
  sqlite3_finalize(statement_);
  sqlite3_close(database_);
}

absl::Status SqlQuery::Check(int result, const char* what) const {
  if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return absl::OkStatus();
  const char* text = database_ != nullptr ? sqlite3_errmsg(database_) : sqlite3_errstr(result);
  return absl::Status(CodeOf(result), StrCat(path_, "; ", what, text));
}

absl::Status SqlQuery::Prepare(const std::string& query) {
  const absl::Status prepared =
      Check(sqlite3_prepare_v2(database_, query.data(), static_cast<int>(query.size()), &statement_,
                               nullptr),
            "Prepare() failed: ");
  if (!prepared.ok()) return AnnotateAfter(prepared, StrCat(": ", query));
  const int columns = sqlite3_column_count(statement_);
  SLUICE_INVALID_IF(columns != static_cast<int>(types_.size()), "The number of columns in query (",
                    columns, ") must match the number of elements in output_types (", types_.size(),
                    ").");
  return absl::OkStatus();
}

absl::StatusOr<bool> SqlQuery::Next(Tensors* element) {
  if (statement_ == nullptr) return false;
  const int result = sqlite3_step(statement_);
  const absl::Status status = Check(result);
  if (!status.ok() || result == SQLITE_DONE) sqlite3_finalize(std::exchange(statement_, nullptr));
  SLUICE_RETURN_IF_ERROR(status);
  if (result == SQLITE_DONE) return false;
  element->clear();
  for (size_t i = 0; i < types_.size(); ++i) element->push_back(Column(static_cast<int>(i)));
  return true;
}

// SQLite converts the value: NULL, and text that is not a number, become 0.
Tensor SqlQuery::Column(int i) const {
  const DataType type = types_[static_cast<size_t>(i)];
  if (type == DT_STRING) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, i));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, i));
    return Tensor::Scalar(bytes == nullptr ? std::string() : std::string(bytes, size));
  }
  if (type == DT_DOUBLE) return Tensor::Scalar<double>(sqlite3_column_double(statement_, i));
  const int64_t value = sqlite3_column_int64(statement_, i);
  switch (type) {
    case DT_INT8:
      return Number<int8_t>(value);
    case DT_INT16:
      return Number<int16_t>(value);
    case DT_INT32:
      return Number<int32_t>(value);
    case DT_UINT8:
      return Number<uint8_t>(value);
    case DT_UINT16:
      return Number<uint16_t>(value);
    case DT_BOOL:
      return Tensor::Scalar<bool>(value != 0);
    default:
      return Number<int64_t>(value);
  }
}

}  // namespace sluice
