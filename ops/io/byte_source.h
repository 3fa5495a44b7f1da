// Bytes one after the other: of a file, or of a compressed stream as it is unpacked.
//
// Thread safety: none. Errors: NOT_FOUND and friends when a file cannot be opened or read, with its
// name; DATA_LOSS where a compressed stream is broken. Memory grows with what was really read, not
// with what a header promises.
#ifndef SLUICE_OPS_IO_BYTE_SOURCE_H_
#define SLUICE_OPS_IO_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // `bytes` bytes into `*out`; fewer only at the end.
  absl::Status Read(size_t bytes, std::string* out);
  // Up to and without the next '\n'; every '\r' is dropped. False at the end, where there is
  // no byte left.
  absl::StatusOr<bool> ReadLine(std::string* line);
  absl::Status ReadAll(std::string* out);
  // OUT_OF_RANGE where there are fewer.
  absl::Status Skip(int64_t bytes);
  // Bytes read and skipped so far.
  int64_t position() const { return position_; }

 protected:
  // Appends some bytes to `*out`, at most about `wanted`; none only at the end.
  virtual absl::Status Fill(size_t wanted, std::string* out) = 0;

 private:
  absl::Status More();
  std::string buffer_;
  size_t used_ = 0;  // of buffer_
  bool at_end_ = false;
  int64_t position_ = 0;
};

// The status of the last system call that failed on a file: TensorFlow's "<file>; <reason>".
absl::Status FileError(const std::string& path, int error_number);

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
std::unique_ptr<ByteSource> BytesOf(std::string bytes);

enum class StreamCompression { kNone, kZlib, kGzip, kRawDeflate };
// "", "ZLIB", "GZIP". INVALID_ARGUMENT on others.
absl::StatusOr<StreamCompression> CompressionFromName(const std::string& name);
// What `packed` unpacks to; it itself for kNone. Gzip files may have several members.
std::unique_ptr<ByteSource> Unpack(std::unique_ptr<ByteSource> packed,
                                   StreamCompression compression);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_BYTE_SOURCE_H_
