// An LMDB database that is read from its first key to its last.
//
// Thread safety: none. Errors: NOT_FOUND and friends where it cannot be opened, DATA_LOSS where it
// is no database or a part of it is missing; both name it. The library maps the file and trusts
// what stands in its pages.
#ifndef SLUICE_OPS_IO_LMDB_DATABASE_H_
#define SLUICE_OPS_IO_LMDB_DATABASE_H_

#include <lmdb.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sluice {

class LmdbDatabase {
 public:
  // The database's folder, or its file where it was made without one.
  static absl::StatusOr<std::unique_ptr<LmdbDatabase>> Open(const std::string& path);
  ~LmdbDatabase();
  LmdbDatabase(const LmdbDatabase&) = delete;
  LmdbDatabase& operator=(const LmdbDatabase&) = delete;

  // False behind the last key.
  absl::StatusOr<bool> Next(std::string* key, std::string* value);

 private:
  explicit LmdbDatabase(const std::string& path) : path_(path) {}
  absl::Status Start();
  absl::Status CheckSize(const std::string& file) const;
  absl::Status Check(int result) const;

  const std::string path_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  bool is_started_ = false;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_LMDB_DATABASE_H_
