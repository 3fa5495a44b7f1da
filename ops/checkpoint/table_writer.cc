// Implements TableWriter, which writes files in LevelDB's table format (table.h).
#include <snappy.h>

#include <algorithm>

#include "graph/format/checksum.h"
#include "graph/status.h"
#include "ops/checkpoint/table.h"
#include "ops/checkpoint/varint.h"

namespace sluice {
namespace {

void AppendFixed32(uint32_t value, std::string* bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes->push_back(static_cast<char>(value >> shift));
}

// Returns a short key in [key, next). Follows LevelDB's rule, so that files are equal byte for
// byte.
std::string ShortSeparator(std::string_view key, std::string_view next) {
  size_t same = 0;
  while (same < key.size() && same < next.size() && key[same] == next[same]) ++same;
  if (same < key.size() && same < next.size()) {
    const auto byte = static_cast<unsigned char>(key[same]);
    if (byte < 0xff && byte + 1 < static_cast<unsigned char>(next[same])) {
      std::string shorter(key.substr(0, same + 1));
      shorter[same] = static_cast<char>(byte + 1);
      return shorter;
    }
  }
  return std::string(key);
}

// Returns a short key that does not sort before `key`.
std::string ShortSuccessor(std::string_view key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const auto byte = static_cast<unsigned char>(key[i]);
    if (byte == 0xff) continue;
    std::string shorter(key.substr(0, i + 1));
    shorter[i] = static_cast<char>(byte + 1);
    return shorter;
  }
  return std::string(key);
}

}  // namespace

void TableWriter::Block::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ < restart_interval_) {
    const size_t most = std::min(key.size(), last_key_.size());
    while (shared < most && key[shared] == last_key_[shared]) ++shared;
  } else {
    restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    since_restart_ = 0;
  }
  AppendVarint(shared, &bytes_);
  AppendVarint(key.size() - shared, &bytes_);
  AppendVarint(value.size(), &bytes_);
  bytes_.append(key.substr(shared));
  bytes_.append(value);
  last_key_ = key;
  ++since_restart_;
}

std::string TableWriter::Block::Take() {
  std::string block = std::move(bytes_);
  for (uint32_t restart : restarts_) AppendFixed32(restart, &block);
  AppendFixed32(static_cast<uint32_t>(restarts_.size()), &block);
  bytes_.clear();
  last_key_.clear();
  restarts_ = {0};
  since_restart_ = 0;
  return block;
}

void TableWriter::Append(const Handle& handle, std::string* bytes) {
  AppendVarint(handle.offset, bytes);
  AppendVarint(handle.size, bytes);
}

absl::Status TableWriter::Add(std::string_view key, std::string_view value) {
  SLUICE_INVALID_IF(has_key_ && key <= last_key_, "table: expected keys in ascending order, got '",
                    key, "' after '", last_key_, "'");
  EnterPending(key);
  has_key_ = true;
  last_key_ = key;
  data_.Add(key, value);
  return data_.size() >= block_bytes_ ? FinishDataBlock() : absl::OkStatus();
}

absl::Status TableWriter::FinishDataBlock() {
  if (data_.empty()) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Handle handle, WriteBlock(data_.Take(), compression_));
  Append(handle, &pending_);
  return absl::OkStatus();
}

void TableWriter::EnterPending(std::string_view next) {
  if (pending_.empty()) return;
  index_.Add(next.empty() ? ShortSuccessor(last_key_) : ShortSeparator(last_key_, next), pending_);
  pending_.clear();
}

absl::StatusOr<TableWriter::Handle> TableWriter::WriteBlock(std::string block,
                                                            Compression compression) {
  if (compression == Compression::kSnappy) {
    std::string smaller;
    snappy::Compress(block.data(), block.size(), &smaller);
    // As in LevelDB, a compressed block is only used if it saves an eighth.
    if (smaller.size() < block.size() - block.size() / 8) {
      block = std::move(smaller);
    } else {
      compression = Compression::kNone;
    }
  }
  const Handle handle = {static_cast<uint64_t>(file_->size()), block.size()};
  block.push_back(static_cast<char>(compression));
  AppendFixed32(MaskCrc(Crc32c(block)), &block);
  SLUICE_RETURN_IF_ERROR(file_->Append(block));
  return handle;
}

absl::Status TableWriter::Finish() {
  SLUICE_RETURN_IF_ERROR(FinishDataBlock());
  EnterPending("");
  SLUICE_ASSIGN_OR_RETURN(const Handle meta, WriteBlock(Block(1).Take(), Compression::kNone));
  SLUICE_ASSIGN_OR_RETURN(const Handle index, WriteBlock(index_.Take(), compression_));
  std::string footer;
  Append(meta, &footer);
  Append(index, &footer);
  footer.resize(40);
  AppendFixed32(0x8b80fb57u, &footer);
  AppendFixed32(0xdb477524u, &footer);
  return file_->Append(footer);
}

}  // namespace sluice
