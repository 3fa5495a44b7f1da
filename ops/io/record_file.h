// Record files: TensorFlow's TFRecord framing, which event files have too.
//
// A record is its length (8 bytes, little-endian), the masked CRC-32C of these, the bytes, and
// their masked CRC-32C. The whole stream may be compressed (zlib, gzip).
//
// Thread safety: none; an object belongs to one thread at a time.
// Errors: DATA_LOSS where a file is cut off or a checksum is wrong, with the offset; OUT_OF_RANGE
// at the end of the file. Nothing here trusts a length that it read.
#ifndef SLUICE_OPS_IO_RECORD_FILE_H_
#define SLUICE_OPS_IO_RECORD_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/io/byte_source.h"

namespace sluice {

// The framing of one record, to be written in this order.
struct RecordFrame {
  explicit RecordFrame(std::string_view record);
  std::string_view header() const { return {header_, sizeof header_}; }
  std::string_view footer() const { return {footer_, sizeof footer_}; }

 private:
  char header_[12];
  char footer_[4];
};

class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The next record. OUT_OF_RANGE "End of file" when there is none.
  absl::StatusOr<std::string> Next();
  // Offset of the next record in the (uncompressed) stream.
  int64_t offset() const { return source_->position(); }
  absl::Status Skip(int64_t bytes) { return source_->Skip(bytes); }

 private:
  absl::StatusOr<std::string> ReadChecked(int64_t offset, size_t bytes);
  std::unique_ptr<ByteSource> source_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_RECORD_FILE_H_
