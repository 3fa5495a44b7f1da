// Reads the tensors of a checkpoint, in either format, without a graph.
//
//   auto reader = CheckpointReader::Open("/models").value();    // the latest, or a prefix
//   for (const SavedTensor& t : reader->tensors()) …
//   Tensor w = reader->Read("w").value();
//
// Reference: tf.train.load_checkpoint.
// Thread safety: all methods may be called from any thread.
// Errors: DATA_LOSS if a file is damaged. No content of a file is trusted.
#ifndef SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_READER_H_
#define SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_READER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class BundleReader;
class V1Reader;

struct SavedTensor {
  std::string name;
  DataType dtype = DT_INVALID;
  TensorShape shape;
  std::vector<std::string> slices;  // "0,2:-" if it was saved in parts
};

class CheckpointReader {
 public:
  // `path`: a checkpoint, or a folder, whose latest checkpoint is read. NOT_FOUND if there is none.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& path);

  ~CheckpointReader();

  const std::string& path() const { return path_; }
  bool is_v1() const { return v1_ != nullptr; }
  int num_shards() const;
  // Sorted by name.
  const std::vector<SavedTensor>& tensors() const { return tensors_; }
  // Null if there is no tensor of that name.
  const SavedTensor* Find(std::string_view name) const;
  // NOT_FOUND if there is no tensor of that name.
  absl::StatusOr<Tensor> Read(std::string_view name) const;

 private:
  CheckpointReader();
  std::string path_;
  std::unique_ptr<BundleReader> bundle_;  // null for a V1 checkpoint
  std::unique_ptr<V1Reader> v1_;          // null for a V2 checkpoint
  std::vector<SavedTensor> tensors_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_READER_H_
