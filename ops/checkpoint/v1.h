// Reads and writes checkpoints of TensorFlow's first format: tables (table.h) whose values are the
// tensors. A checkpoint is one file, or all files that match a pattern.
//
// Thread safety: a reader may be used from any thread, a writer from one.
// Errors: DATA_LOSS if a file is damaged. The contents of files are not trusted.
#ifndef SLUICE_OPS_CHECKPOINT_V1_H_
#define SLUICE_OPS_CHECKPOINT_V1_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/saved_tensor_slice.pb.h"
#include "graph/tensor/tensor.h"
#include "ops/checkpoint/slice.h"
#include "ops/checkpoint/table.h"

namespace sluice {

class V1Writer {
 public:
  explicit V1Writer(std::string path) : path_(std::move(path)) {}
  // UNIMPLEMENTED "Saving data type bfloat16 not yet supported" for types that the format lacks.
  // INTERNAL if another slice of the tensor was added with a different full shape or type.
  // INVALID_ARGUMENT if this slice was added before.
  absl::Status Add(std::string_view name, const TensorShape& full_shape, const TensorSlice& slice,
                   const Tensor& tensor);
  // Writes the checkpoint to a temporary file and renames the file to the path.
  absl::Status Finish();

 private:
  const std::string path_;
  pb::SavedTensorSlices meta_;
  std::map<std::string, int> tensors_;         // index in meta_ by name
  std::map<std::string, std::string> values_;  // by key
};

class V1Reader {
 public:
  // Opens all files that match `pattern`. If there are none: NOT_FOUND "Unsuccessful
  // TensorSliceReader constructor: Failed to find any matching files for <pattern>".
  static absl::StatusOr<V1Reader> Open(const std::string& pattern);

  struct Entry {
    DataType dtype = DT_INVALID;
    TensorShape shape;
    std::vector<TensorSlice> slices;
  };
  const std::string& pattern() const { return pattern_; }
  std::vector<std::string> names() const;
  // Type, shape and slices of a tensor. NOT_FOUND "Tensor name "<name>" not found in checkpoint
  // files <pattern>" if there is no such tensor.
  absl::StatusOr<Entry> Find(std::string_view name) const;
  absl::StatusOr<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice) const;

 private:
  struct Part {
    TensorSlice slice;
    int table;
  };
  struct Stored {
    DataType dtype = DT_INVALID;
    TensorShape shape;
    std::vector<Part> parts;
  };
  absl::Status AddTable(const std::string& path);
  absl::StatusOr<const Stored*> FindStored(std::string_view name) const;
  absl::StatusOr<Tensor> ReadPart(std::string_view name, const Stored& stored,
                                  const Part& part) const;

  std::string pattern_;
  std::vector<TableReader> tables_;
  std::map<std::string, Stored, std::less<>> tensors_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_V1_H_
