// Reads an LMDB database from its first key to its last.
//
// Thread safety: none.
// Errors: NOT_FOUND and others if the database cannot be opened, DATA_LOSS if the file is
// incomplete or not a database. Both name the file. The LMDB library maps the file and trusts the
// contents of its pages.
#ifndef SLUICE_OPS_IO_LMDB_DATABASE_H_
#define SLUICE_OPS_IO_LMDB_DATABASE_H_

#include <lmdb.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sluice {

class LmdbDatabase {
 public:
  // `path` is the folder of the database, or its file if it was made without a folder.
  static absl::StatusOr<std::unique_ptr<LmdbDatabase>> Open(const std::string& path);
  ~LmdbDatabase();
  LmdbDatabase(const LmdbDatabase&) = delete;
  LmdbDatabase& operator=(const LmdbDatabase&) = delete;

  // False after the last key.
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
