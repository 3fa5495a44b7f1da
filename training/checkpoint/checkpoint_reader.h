// A checkpoint of either format, tensor by tensor, without a graph.
//
//   auto reader = CheckpointReader::Open("/models").value();    // the latest, or a prefix
//   for (const SavedTensor& t : reader->tensors()) …
//   Tensor w = reader->Read("w").value();
//
// Reference: tf.train.load_checkpoint. Reading trusts nothing: DATA_LOSS where a file is damaged.
// Thread safety: from any thread.
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
  std::vector<std::string> slices;  // "0,2:-" where it was saved in parts
};

class CheckpointReader {
 public:
  // A checkpoint's path, or a folder, whose latest one is read. NOT_FOUND where there is none.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& path);

  ~CheckpointReader();

  const std::string& path() const { return path_; }
  bool is_v1() const { return v1_ != nullptr; }
  int num_shards() const;
  // By name.
  const std::vector<SavedTensor>& tensors() const { return tensors_; }
  // Null where there is none of that name.
  const SavedTensor* Find(std::string_view name) const;
  // NOT_FOUND.
  absl::StatusOr<Tensor> Read(std::string_view name) const;

 private:
  CheckpointReader();
  std::string path_;
  std::unique_ptr<BundleReader> bundle_;  // either this
  std::unique_ptr<V1Reader> v1_;          // or that
  std::vector<SavedTensor> tensors_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_CHECKPOINT_CHECKPOINT_READER_H_
