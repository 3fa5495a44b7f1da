// Reads record files in TensorFlow's TFRecord format, which event files also use.
//
// A record consists of its length (8 bytes, little-endian), the masked CRC-32C of the length, the
// bytes, and their masked CRC-32C. The whole stream may be compressed (zlib, gzip).
//
// Thread safety: none.
// Errors: DATA_LOSS with the offset if a file is truncated or a checksum is wrong; OUT_OF_RANGE at
// the end of the file. Lengths in the file are not trusted.
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

// The bytes before and after the contents of a record.
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

  // Reads the next record. OUT_OF_RANGE "End of file" if there is none.
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
