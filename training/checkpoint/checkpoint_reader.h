// Reads the tensors of a checkpoint, in either of TensorFlow's two formats, without a graph.
//
//   auto reader = CheckpointReader::Open("/models").value();    // the latest checkpoint there
//   for (const SavedTensor& t : reader->tensors()) …
//   Tensor w = reader->Read("w").value();
//
// Thread safety: all methods may be called from any thread.
// Ownership: the caller owns the reader, which keeps data files open. References and pointers that
// it returns are valid as long as the reader; tensors own their memory.
// Errors: DATA_LOSS if a file is damaged. No content of a file is trusted.
// Reference: tf.train.load_checkpoint.
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

// One entry of the checkpoint. `name` is a variable's name without ":0".
struct SavedTensor {
  std::string name;
  DataType dtype = DT_INVALID;
  TensorShape shape;

  // The parts of a partitioned variable, such as "0,2:-": begin and length in each dimension, or
  // "-" for the whole dimension. Read joins the parts. Empty if the tensor was saved as a whole.
  std::vector<std::string> slices;
};

// An open checkpoint. Read opens each data file when it first needs it, and returns NOT_FOUND if a
// Saver has deleted the checkpoint by then.
class CheckpointReader {
 public:
  // Reads the index, not the tensors. `path`: a checkpoint ("/models/m-100", without a suffix), or
  // a folder, whose latest checkpoint is read. NOT_FOUND if there is none.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& path);

  ~CheckpointReader();

  // The path of the checkpoint, without a suffix.
  const std::string& path() const { return path_; }
  // Whether the checkpoint has TensorFlow's first format, whose files contain both names and
  // tensors. The second format has an index file and data files.
  bool is_v1() const { return v1_ != nullptr; }
  // The number of data files in the second format. 1 in the first format.
  int num_shards() const;
  // All tensors, sorted by name.
  const std::vector<SavedTensor>& tensors() const { return tensors_; }
  // Returns null if there is no tensor of that name.
  const SavedTensor* Find(std::string_view name) const;

  // Reads one tensor from the file and checks its checksum. NOT_FOUND if there is no tensor of that
  // name, DATA_LOSS for a wrong checksum.
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
