// Reads an LMDB database from its first key to its last.
//
// It reads the file page by page and checks every number in it, so that damaged files are errors.
// LMDB's own library maps the file and trusts it.
//
// Thread safety: none. The database must not be written meanwhile.
// Errors: NOT_FOUND and others if the file cannot be opened. DATA_LOSS if it is incomplete, damaged
// or not a database. UNIMPLEMENTED if keys can have several values (MDB_DUPSORT). All errors name
// the file.
// Reference: LMDB 0.9's format, as 64-bit little-endian machines write it (mdb.c).
#ifndef SLUICE_OPS_IO_LMDB_DATABASE_H_
#define SLUICE_OPS_IO_LMDB_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/files/file_system.h"

namespace sluice {

class LmdbDatabase {
 public:
  // `path` is the folder of the database, or its file if the database is a single file
  // (MDB_NOSUBDIR).
  static absl::StatusOr<std::unique_ptr<LmdbDatabase>> Open(const std::string& path);

  // False after the last key.
  absl::StatusOr<bool> Next(std::string* key, std::string* value);

 private:
  // A page of the tree, and the number of the node that is read next.
  struct Level {
    std::string page;
    size_t next = 0;
  };

  explicit LmdbDatabase(std::unique_ptr<FileReader> file) : file_(std::move(file)) {}
  absl::Status Start();
  absl::Status ReadMeta(uint64_t at);
  absl::Status Descend(uint64_t page_number);
  // The bytes of the next node of the last level, which begin with a header.
  absl::StatusOr<std::string_view> NextNode();
  absl::Status ReadPair(std::string_view node, std::string* key, std::string* value);
  absl::Status ReadLarge(uint64_t page_number, uint64_t bytes, std::string* value);
  absl::Status ReadAt(uint64_t at, uint64_t bytes, char* to) const;
  absl::Status Damaged(std::string_view what) const;

  const std::unique_ptr<FileReader> file_;
  uint64_t page_bytes_ = 0;
  uint64_t pages_ = 0;  // in the file
  uint64_t transaction_ = 0;
  uint64_t root_ = 0;
  uint64_t pages_read_ = 0;  // pages of the tree read so far. More than pages_ mean damage
  std::vector<Level> levels_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_LMDB_DATABASE_H_
