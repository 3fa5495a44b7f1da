#include "ops/io/lmdb_database.h"

#include <filesystem>

#include "executor/files/file_system.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<std::unique_ptr<LmdbDatabase>> LmdbDatabase::Open(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::string local, PathToMap(path));
  std::unique_ptr<LmdbDatabase> database(new LmdbDatabase(local));
  SLUICE_RETURN_IF_ERROR(database->Start());
  return database;
}

LmdbDatabase::~LmdbDatabase() {
  if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  if (environment_ != nullptr) mdb_env_close(environment_);
}

absl::Status LmdbDatabase::Check(int result) const {
  if (result == MDB_SUCCESS) return absl::OkStatus();
  if (result > 0) return FileError(path_, result);
  return absl::DataLossError(StrCat(path_, "; ", mdb_strerror(result)));
}

absl::Status LmdbDatabase::Start() {
  SLUICE_RETURN_IF_ERROR(Check(mdb_env_create(&environment_)));
  // If the lock file cannot be written, the library works without it. MDB_NOTLS allows the
  // transaction to be used by any thread.
  unsigned flags = MDB_RDONLY | MDB_NOTLS;
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(path_, ignored);
  if (is_file) flags |= MDB_NOSUBDIR;
  constexpr mdb_mode_t kMode = 0664;
  SLUICE_RETURN_IF_ERROR(Check(mdb_env_open(environment_, path_.c_str(), flags, kMode)));
  SLUICE_RETURN_IF_ERROR(CheckSize(is_file ? path_ : path_ + "/data.mdb"));
  SLUICE_RETURN_IF_ERROR(Check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction_)));
  MDB_dbi names;
  SLUICE_RETURN_IF_ERROR(Check(mdb_dbi_open(transaction_, nullptr, 0, &names)));
  return Check(mdb_cursor_open(transaction_, names, &cursor_));
}

// Reading a page behind the end of the mapped file would terminate the process.
absl::Status LmdbDatabase::CheckSize(const std::string& file) const {
  MDB_envinfo info;
  MDB_stat stat;
  SLUICE_RETURN_IF_ERROR(Check(mdb_env_info(environment_, &info)));
  SLUICE_RETURN_IF_ERROR(Check(mdb_env_stat(environment_, &stat)));
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) return FileError(file, error.value());
  const auto expected = (info.me_last_pgno + 1) * stat.ms_psize;
  if (size >= expected) return absl::OkStatus();
  return absl::DataLossError(StrCat(file, "; expected ", expected, " bytes of pages, got ", size));
}

absl::StatusOr<bool> LmdbDatabase::Next(std::string* key, std::string* value) {
  MDB_val found_key, found_value;
  const int result =
      mdb_cursor_get(cursor_, &found_key, &found_value, is_started_ ? MDB_NEXT : MDB_FIRST);
  if (result == MDB_NOTFOUND) return false;
  SLUICE_RETURN_IF_ERROR(Check(result));
  is_started_ = true;
  key->assign(static_cast<const char*>(found_key.mv_data), found_key.mv_size);
  value->assign(static_cast<const char*>(found_value.mv_data), found_value.mv_size);
  return true;
}

}  // namespace sluice
