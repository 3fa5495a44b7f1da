#include "ops/io/record_file.h"

#include "graph/format/checksum.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Writes a number in little-endian order on every machine.
template <typename T>
void Put(T value, char* to) {
  for (size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<char>(value >> (8 * i));
}
template <typename T>
T Get(const char* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(from[i])) << (8 * i);
  }
  return value;
}

}  // namespace

RecordFrame::RecordFrame(std::string_view record) {
  Put<uint64_t>(record.size(), header_);
  Put<uint32_t>(MaskCrc(Crc32c({header_, 8})), header_ + 8);
  Put<uint32_t>(MaskCrc(Crc32c(record)), footer_);
}

// Reads `bytes` bytes and the checksum after them.
absl::StatusOr<std::string> RecordReader::ReadChecked(int64_t offset, size_t bytes) {
  const absl::Status truncated = absl::DataLossError(StrCat("truncated record at ", offset));
  std::string data;
  SLUICE_RETURN_IF_ERROR(source_->Read(bytes + 4, &data));
  if (data.size() < bytes + 4) {
    if (data.empty()) return absl::OutOfRangeError("End of file");
    return truncated;
  }
  const uint32_t stored = UnmaskCrc(Get<uint32_t>(data.data() + bytes));
  data.resize(bytes);
  if (stored != Crc32c(data)) {
    return absl::DataLossError(StrCat("corrupted record at ", offset));
  }
  return data;
}

absl::StatusOr<std::string> RecordReader::Next() {
  const int64_t offset = source_->position();
  SLUICE_ASSIGN_OR_RETURN(const std::string header, ReadChecked(offset, 8));
  const auto length = Get<uint64_t>(header.data());
  if (length > uint64_t{1} << 62) {
    return absl::DataLossError(StrCat("corrupted record at ", offset));
  }
  absl::StatusOr<std::string> record = ReadChecked(offset, static_cast<size_t>(length));
  // An end of the file after the header means that the record is truncated.
  if (absl::IsOutOfRange(record.status())) {
    return absl::DataLossError(StrCat("truncated record at ", offset));
  }
  return record;
}

}  // namespace sluice
