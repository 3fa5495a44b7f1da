// Reads and writes LevelDB's table format: files of keys, in ascending order, and their values,
// both strings of bytes. TensorFlow uses it for the indices of checkpoints, and for whole
// checkpoints of its first format.
//
// A file consists of blocks and a footer. After each block comes a byte (0: uncompressed, 1:
// snappy) and the masked CRC-32C of block and byte. The last block is the index. For each data
// block, the index has the position of the block and a key that is at or after the last key of the
// block. There are no filter blocks. Reference: LevelDB's doc/table_format.md.
//
// Thread safety: a reader may be used from any thread, a writer from one.
#ifndef SLUICE_OPS_CHECKPOINT_TABLE_H_
#define SLUICE_OPS_CHECKPOINT_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/files/files.h"

namespace sluice {

enum class Compression { kNone = 0, kSnappy = 1 };

class TableWriter {
 public:
  // `file` outlives the writer.
  TableWriter(FileWriter* file, Compression compression, size_t block_bytes = size_t{1} << 18)
      : file_(file), compression_(compression), block_bytes_(block_bytes) {}

  // INVALID_ARGUMENT unless the keys ascend.
  absl::Status Add(std::string_view key, std::string_view value);
  // Writes the remaining blocks. Does not close the file.
  absl::Status Finish();

 private:
  // A block under construction. An entry omits the first bytes of its key that the previous key has
  // too. Only every `restart_interval`-th entry has its complete key.
  class Block {
   public:
    explicit Block(int restart_interval) : restart_interval_(restart_interval) {}
    void Add(std::string_view key, std::string_view value);
    bool empty() const { return bytes_.empty(); }
    size_t size() const { return bytes_.size() + 4 * restarts_.size(); }
    // Returns the finished block. The block is then empty.
    std::string Take();

   private:
    const int restart_interval_;
    int since_restart_ = 0;
    std::string bytes_;
    std::string last_key_;
    std::vector<uint32_t> restarts_ = {0};
  };
  struct Handle {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  static void Append(const Handle& handle, std::string* bytes);
  absl::Status FinishDataBlock();
  // Adds the last written block to the index, under a short key that is at or after the last key of
  // the block and before `next`. If `next` is empty, the block is the last one.
  void EnterPending(std::string_view next);
  absl::StatusOr<Handle> WriteBlock(std::string block, Compression compression);

  FileWriter* const file_;
  const Compression compression_;
  const size_t block_bytes_;
  Block data_{16};
  Block index_{1};
  std::string last_key_;
  bool has_key_ = false;
  std::string pending_;  // position of the last block, until the next key is known
};

class TableReader {
 public:
  // DATA_LOSS if the file is damaged or not a table. Its contents are not trusted.
  static absl::StatusOr<TableReader> Open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  // The value, or nothing if the table does not have the key.
  absl::StatusOr<std::optional<std::string>> Find(std::string_view key) const;
  // Calls `visit` for every entry in order, until it returns an error. Returns that error.
  absl::Status ForEach(
      absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> visit) const;

 private:
  struct IndexEntry {
    std::string last_key;  // at or after the last key of the block
    uint64_t offset;
    uint64_t size;
  };
  TableReader() = default;
  absl::StatusOr<std::string> ReadBlock(uint64_t offset, uint64_t size) const;
  absl::Status Damaged(std::string_view what) const;
  // Calls `visit` for the entries of a block, until it returns false.
  absl::Status Walk(
      std::string_view block,
      absl::FunctionRef<absl::StatusOr<bool>(std::string_view key, std::string_view value)> visit)
      const;

  std::unique_ptr<FileReader> file_;
  std::vector<IndexEntry> index_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_TABLE_H_
