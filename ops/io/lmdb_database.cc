#include "ops/io/lmdb_database.h"

#include <cstring>

#include "executor/files/files.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint32_t kVersion = 1;
constexpr uint64_t kNoPage = UINT64_MAX;

// Header of a page: number (8 bytes), padding (2), flags (2), begin and end of the free space (2
// each). A large value's first page has the number of its pages (4) instead of the free space. The
// offsets of the nodes follow the header.
constexpr size_t kPageHeader = 16;
constexpr size_t kFlagsAt = 10, kLowerAt = 12, kUpperAt = 14, kCountAt = 12;
enum PageFlag : uint16_t { kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8 };
constexpr uint16_t kKinds = 0x6f;  // mask of the flags that determine the type of a page

// Header of a node: size of the value or number of the child page (4 bytes, branch nodes use the
// flags for more bits of the number), flags (2), size of the key (2).
constexpr size_t kNodeHeader = 8;
enum NodeFlag : uint16_t { kLarge = 1, kDuplicates = 4 };

// The first two pages have these fields after the header: magic (4), version (4), address (8), size
// (8), two database records of 48 bytes each (free pages, main database), last page (8),
// transaction (8).
constexpr size_t kMetaBytes = kPageHeader + 136;
constexpr size_t kPageSizeAt = kPageHeader + 24;
constexpr size_t kRootAt = kPageHeader + 24 + 48 + 40;
constexpr size_t kLastPageAt = kPageHeader + 120;
constexpr size_t kTransactionAt = kPageHeader + 128;

constexpr uint64_t kMinPageBytes = 256, kMaxPageBytes = 1 << 15;
constexpr size_t kMaxDepth = 32;

// Reads a number. The caller has checked that it lies within the bytes.
template <typename T>
T NumberAt(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LmdbDatabase>> LmdbDatabase::Open(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<FileReader> file,
                          FileReader::Open(IsDirectory(path) ? path + "/data.mdb" : path));
  std::unique_ptr<LmdbDatabase> database(new LmdbDatabase(std::move(file)));
  SLUICE_RETURN_IF_ERROR(database->Start());
  return database;
}

absl::Status LmdbDatabase::Damaged(std::string_view what) const {
  return absl::DataLossError(StrCat(file_->path(), "; ", what));
}

// Opening has checked the size of the file. So an end before `bytes` means that the file was
// truncated since then, and OUT_OF_RANGE would wrongly look like the end of the input.
absl::Status LmdbDatabase::ReadAt(uint64_t at, uint64_t bytes, char* to) const {
  const absl::Status status =
      file_->ReadAt(static_cast<int64_t>(at), static_cast<int64_t>(bytes), to);
  return absl::IsOutOfRange(status) ? Damaged("its end was cut off") : status;
}

absl::Status LmdbDatabase::Start() {
  // Transactions write these two pages alternately. The page of the later transaction is valid.
  SLUICE_RETURN_IF_ERROR(ReadMeta(0));
  SLUICE_RETURN_IF_ERROR(ReadMeta(page_bytes_));
  const auto size = static_cast<uint64_t>(file_->size());
  if (pages_ > size / page_bytes_) {
    return Damaged(
        StrCat("expected ", pages_, " pages of ", page_bytes_, " bytes, got ", size, " bytes"));
  }
  return root_ == kNoPage ? absl::OkStatus() : Descend(root_);
}

absl::Status LmdbDatabase::ReadMeta(uint64_t at) {
  char bytes[kMetaBytes];
  constexpr char kNoDatabase[] = "MDB_INVALID: File is not an LMDB file";
  if (file_->size() < static_cast<int64_t>(at + kMetaBytes)) return Damaged(kNoDatabase);
  SLUICE_RETURN_IF_ERROR(ReadAt(at, kMetaBytes, bytes));
  const std::string_view meta(bytes, kMetaBytes);
  if ((NumberAt<uint16_t>(meta, kFlagsAt) & kMeta) == 0 ||
      NumberAt<uint32_t>(meta, kPageHeader) != kMagic) {
    return Damaged(kNoDatabase);
  }
  if (const auto version = NumberAt<uint32_t>(meta, kPageHeader + 4); version != kVersion) {
    return Damaged(StrCat("MDB_VERSION_MISMATCH: expected version ", kVersion, ", got ", version));
  }
  const uint64_t page_bytes = NumberAt<uint32_t>(meta, kPageSizeAt);
  if (page_bytes < kMinPageBytes || page_bytes > kMaxPageBytes ||
      (page_bytes & (page_bytes - 1)) != 0) {
    return Damaged(StrCat("expected the size of a page, got ", page_bytes));
  }
  const auto transaction = NumberAt<uint64_t>(meta, kTransactionAt);
  if (at != 0 && (transaction <= transaction_ || page_bytes != page_bytes_)) {
    return absl::OkStatus();
  }
  page_bytes_ = page_bytes;
  transaction_ = transaction;
  root_ = NumberAt<uint64_t>(meta, kRootAt);
  pages_ = NumberAt<uint64_t>(meta, kLastPageAt);
  if (pages_ != kNoPage) ++pages_;
  return absl::OkStatus();
}

absl::Status LmdbDatabase::Descend(uint64_t page_number) {
  if (page_number >= pages_) return Damaged(StrCat("there is no page ", page_number));
  // In a damaged file a page may be the child of several pages, or of itself. The limits keep such
  // pages from being read without end.
  if (levels_.size() == kMaxDepth || pages_read_++ == pages_) {
    return Damaged(StrCat("page ", page_number, " is not part of a tree"));
  }
  Level level;
  level.page.resize(page_bytes_);
  SLUICE_RETURN_IF_ERROR(ReadAt(page_number * page_bytes_, page_bytes_, level.page.data()));
  const uint16_t kind = NumberAt<uint16_t>(level.page, kFlagsAt) & kKinds;
  const size_t lower = NumberAt<uint16_t>(level.page, kLowerAt);
  const size_t upper = NumberAt<uint16_t>(level.page, kUpperAt);
  const bool is_valid =
      lower >= kPageHeader && lower % 2 == 0 && lower <= upper && upper <= page_bytes_;
  if ((kind != kBranch && kind != kLeaf) || !is_valid) {
    return Damaged(StrCat("page ", page_number, " is no page of keys"));
  }
  levels_.push_back(std::move(level));
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> LmdbDatabase::NextNode() {
  Level& level = levels_.back();
  const size_t at = NumberAt<uint16_t>(level.page, kPageHeader + 2 * level.next++);
  if (at < kPageHeader || at + kNodeHeader > level.page.size()) {
    return Damaged(StrCat("expected the offset of a node, got ", at));
  }
  return std::string_view(level.page).substr(at);
}

absl::StatusOr<bool> LmdbDatabase::Next(std::string* key, std::string* value) {
  while (!levels_.empty()) {
    const Level& level = levels_.back();
    const size_t nodes = (NumberAt<uint16_t>(level.page, kLowerAt) - kPageHeader) / 2;
    if (level.next == nodes) {
      levels_.pop_back();
      continue;
    }
    const bool is_leaf = (NumberAt<uint16_t>(level.page, kFlagsAt) & kLeaf) != 0;
    SLUICE_ASSIGN_OR_RETURN(const std::string_view node, NextNode());
    if (is_leaf) {
      SLUICE_RETURN_IF_ERROR(ReadPair(node, key, value));
      return true;
    }
    SLUICE_RETURN_IF_ERROR(
        Descend(NumberAt<uint32_t>(node, 0) | uint64_t{NumberAt<uint16_t>(node, 4)} << 32));
  }
  return false;
}

absl::Status LmdbDatabase::ReadPair(std::string_view node, std::string* key, std::string* value) {
  const uint64_t value_bytes = NumberAt<uint32_t>(node, 0);
  const auto flags = NumberAt<uint16_t>(node, 4);
  const size_t key_bytes = NumberAt<uint16_t>(node, 6);
  node.remove_prefix(kNodeHeader);
  const uint64_t stored = (flags & kLarge) != 0 ? sizeof(uint64_t) : value_bytes;
  if (key_bytes > node.size() || stored > node.size() - key_bytes) {
    return Damaged(StrCat("a node of ", key_bytes, " and ", stored, " bytes leaves its page"));
  }
  if ((flags & kDuplicates) != 0) {
    return absl::UnimplementedError(
        StrCat(file_->path(), "; expected one value per key, got a database with several"));
  }
  key->assign(node.substr(0, key_bytes));
  node.remove_prefix(key_bytes);
  if ((flags & kLarge) != 0) return ReadLarge(NumberAt<uint64_t>(node, 0), value_bytes, value);
  value->assign(node.substr(0, value_bytes));
  return absl::OkStatus();
}

// Reads a large value. It is stored in consecutive pages, of which only the first one has a header.
absl::Status LmdbDatabase::ReadLarge(uint64_t page_number, uint64_t bytes, std::string* value) {
  if (page_number >= pages_) return Damaged(StrCat("there is no page ", page_number));
  const uint64_t at = page_number * page_bytes_;
  char header[kPageHeader];
  SLUICE_RETURN_IF_ERROR(ReadAt(at, kPageHeader, header));
  const std::string_view page(header, kPageHeader);
  const uint64_t count = NumberAt<uint32_t>(page, kCountAt);
  if ((NumberAt<uint16_t>(page, kFlagsAt) & kKinds) != kOverflow || count > pages_ - page_number ||
      bytes + kPageHeader > count * page_bytes_) {
    return Damaged(StrCat("page ", page_number, " does not hold a value of ", bytes, " bytes"));
  }
  value->resize(bytes);
  return ReadAt(at + kPageHeader, bytes, value->data());
}

}  // namespace sluice
