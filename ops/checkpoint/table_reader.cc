// Implements TableReader, which reads files in LevelDB's table format (table.h).
#include <snappy.h>

#include <algorithm>
#include <cstring>

#include "graph/format/checksum.h"
#include "graph/status.h"
#include "ops/checkpoint/table.h"
#include "ops/checkpoint/varint.h"

namespace sluice {
namespace {

constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;  // compression and checksum
// Limits the uncompressed size that a compressed block may claim. The limit is far above the usual
// size of a block, because a value may be large.
constexpr size_t kUncompressedMax = size_t{1} << 31;

uint32_t Fixed32(std::string_view bytes) {
  uint32_t value;
  std::memcpy(&value, bytes.data(), 4);
  return value;
}

}  // namespace

absl::Status TableReader::Damaged(std::string_view what) const {
  return absl::DataLossError(StrCat("table '", file_->path(), "': ", what));
}

absl::StatusOr<TableReader> TableReader::Open(const std::string& path) {
  TableReader table;
  SLUICE_ASSIGN_OR_RETURN(table.file_, FileReader::Open(path));
  const int64_t size = table.file_->size();
  if (size < static_cast<int64_t>(kFooterBytes)) {
    return table.Damaged(StrCat("file is too short to be an sstable: ", size, " bytes"));
  }
  char footer[kFooterBytes];
  SLUICE_RETURN_IF_ERROR(table.file_->ReadAt(size - kFooterBytes, kFooterBytes, footer));
  std::string_view rest(footer, kFooterBytes);
  if (Fixed32(rest.substr(40)) != 0x8b80fb57u || Fixed32(rest.substr(44)) != 0xdb477524u) {
    return table.Damaged("not an sstable (bad magic number)");
  }
  rest = rest.substr(0, 40);
  uint64_t meta_offset, meta_size, offset, bytes;
  if (!TakeVarint(&rest, &meta_offset) || !TakeVarint(&rest, &meta_size) ||
      !TakeVarint(&rest, &offset) || !TakeVarint(&rest, &bytes)) {
    return table.Damaged("bad block handle in the footer");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string index, table.ReadBlock(offset, bytes));
  SLUICE_RETURN_IF_ERROR(
      table.Walk(index, [&](std::string_view key, std::string_view where) -> absl::StatusOr<bool> {
        IndexEntry entry{std::string(key), 0, 0};
        if (!TakeVarint(&where, &entry.offset) || !TakeVarint(&where, &entry.size)) {
          return table.Damaged("bad block handle in the index");
        }
        table.index_.push_back(std::move(entry));
        return true;
      }));
  return table;
}

absl::StatusOr<std::string> TableReader::ReadBlock(uint64_t offset, uint64_t size) const {
  const auto file_size = static_cast<uint64_t>(file_->size());
  if (size > file_size || offset > file_size - size || file_size - size - offset < kTrailerBytes) {
    return Damaged(StrCat("truncated block read: ", size, " bytes at ", offset, " of ", file_size));
  }
  std::string block(size + kTrailerBytes, '\0');
  SLUICE_RETURN_IF_ERROR(file_->ReadAt(static_cast<int64_t>(offset),
                                       static_cast<int64_t>(block.size()), block.data()));
  const std::string_view all = block;
  if (UnmaskCrc(Fixed32(all.substr(size + 1))) != Crc32c(all.substr(0, size + 1))) {
    return Damaged(StrCat("block checksum mismatch at ", offset));
  }
  const char compression = block[size];
  block.resize(size);
  if (compression == static_cast<char>(Compression::kNone)) return block;
  if (compression != static_cast<char>(Compression::kSnappy)) {
    return Damaged(StrCat("bad block type ", static_cast<int>(compression)));
  }
  size_t length = 0;
  if (!snappy::GetUncompressedLength(block.data(), block.size(), &length) ||
      length > kUncompressedMax || !snappy::IsValidCompressedBuffer(block.data(), block.size())) {
    return Damaged(StrCat("corrupted compressed block at ", offset));
  }
  std::string plain;
  snappy::Uncompress(block.data(), block.size(), &plain);
  return plain;
}

absl::Status TableReader::Walk(
    std::string_view block,
    absl::FunctionRef<absl::StatusOr<bool>(std::string_view key, std::string_view value)> visit)
    const {
  if (block.size() < 4) return Damaged("bad block contents");
  const uint64_t restarts = Fixed32(block.substr(block.size() - 4));
  if (restarts > (block.size() - 4) / 4) return Damaged("bad block contents");
  std::string_view rest = block.substr(0, block.size() - 4 - 4 * restarts);
  std::string key;
  while (!rest.empty()) {
    uint64_t shared, unshared, value_bytes;
    if (!TakeVarint(&rest, &shared) || !TakeVarint(&rest, &unshared) ||
        !TakeVarint(&rest, &value_bytes) || shared > key.size() || unshared > rest.size() ||
        value_bytes > rest.size() - unshared) {
      return Damaged("bad entry in block");
    }
    key.resize(shared);
    key.append(rest.substr(0, unshared));
    const std::string_view value = rest.substr(unshared, value_bytes);
    rest.remove_prefix(unshared + value_bytes);
    SLUICE_ASSIGN_OR_RETURN(const bool more, visit(key, value));
    if (!more) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> TableReader::Find(std::string_view key) const {
  const auto block = std::lower_bound(
      index_.begin(), index_.end(), key,
      [](const IndexEntry& entry, std::string_view k) { return entry.last_key < k; });
  std::optional<std::string> found;
  if (block == index_.end()) return found;
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadBlock(block->offset, block->size));
  SLUICE_RETURN_IF_ERROR(
      Walk(bytes, [&](std::string_view k, std::string_view value) -> absl::StatusOr<bool> {
        if (k == key) found = std::string(value);
        return k < key;
      }));
  return found;
}

absl::Status TableReader::ForEach(
    absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> visit) const {
  for (const IndexEntry& entry : index_) {
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadBlock(entry.offset, entry.size));
    SLUICE_RETURN_IF_ERROR(
        Walk(bytes, [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
          SLUICE_RETURN_IF_ERROR(visit(key, value));
          return true;
        }));
  }
  return absl::OkStatus();
}

}  // namespace sluice
