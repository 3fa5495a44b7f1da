// Streams of bytes to a file, which may be compressed. The counterpart of ops/io/byte_source.h.
//
// Thread safety: none.
// Errors: those of files; RESOURCE_EXHAUSTED without memory to compress.
#ifndef SLUICE_OPS_PIPELINE_BYTE_SINK_H_
#define SLUICE_OPS_PIPELINE_BYTE_SINK_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/io/byte_source.h"

namespace sluice {

enum class FileCompression { kNone, kZlib, kGzip, kSnappy };
// "", "ZLIB", "GZIP" or "SNAPPY". INVALID_ARGUMENT otherwise.
absl::StatusOr<FileCompression> FileCompressionFromName(const std::string& name);

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Writes what is buffered, syncs and closes the file.
  virtual absl::Status Close() = 0;
};

// Makes the file, or empties it.
absl::StatusOr<std::unique_ptr<ByteSink>> CreateSink(const std::string& path,
                                                     FileCompression compression);
// The decompressed bytes of the file. DATA_LOSS if the compressed stream is broken.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       FileCompression compression);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_BYTE_SINK_H_
