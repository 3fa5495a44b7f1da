// A stream of bytes from a file, from a string, or from a compressed stream, which it decompresses.
//
// Thread safety: none.
// Errors: NOT_FOUND and others, with the file's name, if a file cannot be opened or read; DATA_LOSS
// if a compressed stream is damaged; RESOURCE_EXHAUSTED if there is no memory to decompress it.
// Memory: grows with the bytes that were read, not with the lengths that headers claim.
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
  // Sets `*out` to the next `bytes` bytes, or to the remaining ones if they are fewer.
  absl::Status Read(size_t bytes, std::string* out);
  // Reads up to the next '\n'. Drops this '\n' and every '\r'. False if no byte is left.
  absl::StatusOr<bool> ReadLine(std::string* line);
  absl::Status ReadAll(std::string* out);
  // OUT_OF_RANGE if fewer bytes are left.
  absl::Status Skip(int64_t bytes);
  // Bytes read and skipped so far.
  int64_t position() const { return position_; }

 protected:
  // Appends the next bytes of the stream to `*out`: at least one, or none at the end. `bytes` is
  // the number that the caller needs, as a hint.
  virtual absl::Status Fill(size_t bytes, std::string* out) = 0;

 private:
  absl::Status More();
  std::string buffer_;
  size_t used_ = 0;  // bytes of buffer_ that were read
  bool at_end_ = false;
  int64_t position_ = 0;
};

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
std::unique_ptr<ByteSource> BytesOf(std::string bytes);

enum class StreamCompression { kNone, kZlib, kGzip, kRawDeflate };
// The compression with the name "", "ZLIB" or "GZIP". INVALID_ARGUMENT for other names.
absl::StatusOr<StreamCompression> CompressionFromName(const std::string& name);
// Decompresses `packed`. Returns `packed` itself for kNone. Gzip files may have several members.
std::unique_ptr<ByteSource> Unpack(std::unique_ptr<ByteSource> packed,
                                   StreamCompression compression);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_BYTE_SOURCE_H_
