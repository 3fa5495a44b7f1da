// Writes a stream of bytes to a file, compressed if requested. The counterpart of
// ops/io/byte_source.h.
//
// Thread safety: none.
// Errors: those of files; RESOURCE_EXHAUSTED if there is no memory for the compression.
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
// The compression with the name "", "ZLIB", "GZIP" or "SNAPPY". INVALID_ARGUMENT for other names.
absl::StatusOr<FileCompression> FileCompressionFromName(const std::string& name);

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual absl::Status Append(std::string_view bytes) = 0;
  // Writes what is buffered, syncs and closes the file.
  virtual absl::Status Close() = 0;
};

// Creates the file, or empties it if it exists.
absl::StatusOr<std::unique_ptr<ByteSink>> CreateSink(const std::string& path,
                                                     FileCompression compression);
// Returns a stream of the decompressed bytes of the file. Its reads return DATA_LOSS if the
// compressed bytes are damaged.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       FileCompression compression);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_BYTE_SINK_H_
