// Reads and writes files of elements of a dataset. Snapshots and saved datasets consist of such
// files.
//
// Version 2 is a TFRecord file with a serialised TensorProto per component. Version 1 has a record
// per element: its length (8 bytes) and a SnapshotRecord. With SNAPPY, version 1 has two records
// per element: the sizes of the components, and their compressed bytes. Version 0 is version 1
// without this special form for SNAPPY, and is only read.
// Thread safety: none.
// Errors: those of files; DATA_LOSS with the file's name if its contents are damaged;
// INVALID_ARGUMENT for another version or compression. Lengths in the file are not trusted.
// Reference: TensorFlow's core/data/snapshot_utils.h.
#ifndef SLUICE_OPS_PIPELINE_ELEMENT_FILE_H_
#define SLUICE_OPS_PIPELINE_ELEMENT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "ops/pipeline/byte_sink.h"

namespace sluice {

struct ElementFormat {
  int64_t version = 2;
  FileCompression compression = FileCompression::kNone;
};

class ElementWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ElementWriter>> Create(const std::string& path,
                                                               const ElementFormat& format);
  virtual ~ElementWriter() = default;
  virtual absl::Status Write(const Tensors& element) = 0;
  absl::Status Close() { return sink_->Close(); }

 protected:
  explicit ElementWriter(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}
  const std::unique_ptr<ByteSink> sink_;
};

class ElementReader {
 public:
  // The elements have components of `types`.
  static absl::StatusOr<std::unique_ptr<ElementReader>> Open(const std::string& path,
                                                             const ElementFormat& format,
                                                             std::vector<DataType> types);
  virtual ~ElementReader() = default;
  // Reads the next element. Returns false at the end of the file.
  virtual absl::StatusOr<bool> Next(Tensors* element) = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_ELEMENT_FILE_H_
