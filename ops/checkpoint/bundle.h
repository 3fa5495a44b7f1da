// Checkpoints: tensors by name in `<prefix>.index` and `<prefix>.data-<shard>-of-<shards>`,
// TensorFlow's tensor bundle (its second checkpoint format).
//
// A checkpoint appears whole or not at all: files are written under temporary names and brought to
// the disk, then renamed, the index last. Where a checkpoint of that prefix exists, the new data
// gets names of its own (another number of shards), so that the old one stays whole until the new
// index takes its place. After a crash the prefix holds the old checkpoint, the new one, or none if
// there was none.
//
// Reading trusts nothing: DATA_LOSS names the file and what is wrong with it.
//
// Thread safety: a reader from any thread, a writer from one; two writers of one prefix at the same
// time leave the checkpoint of one of them.
#ifndef SLUICE_OPS_CHECKPOINT_BUNDLE_H_
#define SLUICE_OPS_CHECKPOINT_BUNDLE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/tensor_bundle.pb.h"
#include "graph/tensor/tensor.h"
#include "ops/checkpoint/files.h"
#include "ops/checkpoint/slice.h"

namespace sluice {

std::string BundleIndexName(std::string_view prefix);
std::string BundleDataName(std::string_view prefix, int shard, int shards);

class BundleWriter {
 public:
  // Makes the folder of `prefix` where its parent exists.
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Create(const std::string& prefix);
  // Takes away what was written, unless it was finished.
  ~BundleWriter();

  // INVALID_ARGUMENT where the name is taken or empty; UNIMPLEMENTED for handles and variants.
  absl::Status Add(std::string_view name, const Tensor& tensor);
  // `tensor` is the box `slice` of a tensor of `full_shape`. INVALID_ARGUMENT where other parts of
  // it have another full shape or type.
  absl::Status AddSlice(std::string_view name, const TensorShape& full_shape,
                        const TensorSlice& slice, const Tensor& tensor);
  // After this the checkpoint is on the disk.
  absl::Status Finish();

 private:
  explicit BundleWriter(std::string prefix);
  absl::Status AddEntry(std::string key, std::string_view shown, const Tensor& tensor);

  const std::string prefix_;
  const std::string data_name_;  // temporary
  std::unique_ptr<CheckpointFileWriter> data_;
  bool is_finished_ = false;
  std::map<std::string, pb::BundleEntryProto, std::less<>> entries_;
};

class BundleReader {
 public:
  // NOT_FOUND where there is no index.
  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& prefix);

  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return num_shards_; }

  struct Entry {
    DataType dtype = DT_INVALID;
    TensorShape shape;                // of the whole
    std::vector<TensorSlice> slices;  // none: kept as a whole
  };
  // In the order of their bytes; parts are listed under the name of the whole.
  std::vector<std::string> names() const;
  bool Contains(std::string_view name) const;
  // NOT_FOUND "Key <name> not found in checkpoint '<prefix>'".
  absl::StatusOr<Entry> Find(std::string_view name) const;
  // The whole tensor, put together from its parts where it was saved in parts.
  absl::StatusOr<Tensor> Read(std::string_view name) const;
  // The box of it. INVALID_ARGUMENT where the parts do not cover it.
  absl::StatusOr<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice) const;

 private:
  friend absl::Status MergeBundles(const std::vector<std::string>&, const std::string&,
                                   struct MergeOptions);
  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  absl::Status Damaged(std::string_view what) const;
  absl::Status ReadIndex();
  absl::StatusOr<const pb::BundleEntryProto*> FindEntry(std::string_view key,
                                                        std::string_view shown) const;
  absl::StatusOr<Entry> Decode(std::string_view name, const pb::BundleEntryProto& entry) const;
  absl::StatusOr<FileReader*> Shard(int shard) const;
  // The file that has the bytes that an entry lists; DATA_LOSS where they cannot be there, or
  // cannot be a tensor of that type and shape. Comes before memory is taken.
  absl::StatusOr<FileReader*> Locate(std::string_view name, const pb::BundleEntryProto& entry,
                                     const Entry& decoded) const;
  // The parts that have something of the slice, checked.
  struct Part {
    std::string shown;
    TensorSlice slice;
    const pb::BundleEntryProto* proto;
    Entry entry;
  };
  absl::StatusOr<std::vector<Part>> PartsOf(std::string_view name, const Entry& whole,
                                            const TensorSlice& slice) const;
  // The bytes that an entry lists, checked.
  absl::StatusOr<Tensor> ReadEntry(std::string_view name, const pb::BundleEntryProto& entry,
                                   const Entry& decoded) const;
  absl::Status ReadStrings(std::string_view name, const pb::BundleEntryProto& entry,
                           const FileReader& file, Tensor* tensor) const;

  const std::string prefix_;
  int num_shards_ = 0;
  std::map<std::string, pb::BundleEntryProto, std::less<>> entries_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<FileReader>> shards_;  // guarded by mutex_
};

struct MergeOptions {
  // Removes the sources' indices, and their folders where nothing is left.
  bool delete_old_dirs = true;
  // A source that does not exist is left out.
  bool allow_missing_files = false;
};
// Makes one checkpoint of several: their data files are renamed and their indices joined.
absl::Status MergeBundles(const std::vector<std::string>& sources, const std::string& destination,
                          MergeOptions options);

// Takes away every file of the checkpoint, the index first.
absl::Status RemoveBundle(const std::string& prefix);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_BUNDLE_H_
