// Reads and writes checkpoints in TensorFlow's second format, the tensor bundle. A bundle stores
// tensors by name in `<prefix>.index` and `<prefix>.data-<shard>-of-<shards>`.
//
// A checkpoint appears completely or not at all. Files are written under temporary names, synced to
// the disk and then renamed, the index last. If the prefix has a checkpoint already, the names of
// the new data files contain a different number of shards. So the old checkpoint stays intact until
// the new index replaces the old one. After a crash, the prefix has the old checkpoint (or none, if
// there was none) or the new one.
//
// Thread safety: a reader may be used from any thread, a writer from one. Only one writer may write
// a prefix at a time: Finish can remove the files of other writers, and two calls of Finish at the
// same time can leave a damaged checkpoint.
// Errors: the contents of files are not trusted. DATA_LOSS names the file and what is wrong.
#ifndef SLUICE_OPS_CHECKPOINT_BUNDLE_H_
#define SLUICE_OPS_CHECKPOINT_BUNDLE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/files/files.h"
#include "graph/format/proto/tensor_bundle.pb.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/checkpoint/slice.h"

namespace sluice {

std::string BundleIndexName(std::string_view prefix);
std::string BundleDataName(std::string_view prefix, int shard, int shards);

class BundleWriter {
 public:
  // Makes the folder of `prefix` if its parent exists.
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Create(const std::string& prefix);
  // Removes the temporary files, unless Finish succeeded.
  ~BundleWriter();

  // INVALID_ARGUMENT if the name is taken or empty, FAILED_PRECONDITION if the tensor has no value,
  // UNIMPLEMENTED for resource handles.
  absl::Status Add(std::string_view name, const Tensor& tensor);
  // Adds a slice of the tensor `name`, which has `full_shape`. INVALID_ARGUMENT if another slice of
  // this tensor was added with a different full shape or type.
  absl::Status AddSlice(std::string_view name, const TensorShape& full_shape,
                        const TensorSlice& slice, const Tensor& tensor);
  // Writes the rest. If Finish returns OK, the checkpoint is on the disk.
  absl::Status Finish();

 private:
  explicit BundleWriter(std::string prefix);
  absl::Status AddEntry(std::string key, std::string_view shown, const Tensor& tensor);

  const std::string prefix_;
  const std::string data_name_;  // temporary
  std::unique_ptr<FileWriter> data_;
  bool is_finished_ = false;
  std::map<std::string, pb::BundleEntryProto, std::less<>> entries_;
};

class BundleReader {
 public:
  // NOT_FOUND if there is no index. UNIMPLEMENTED if a big-endian machine wrote the checkpoint.
  // INVALID_ARGUMENT if the checkpoint needs a later version of the format.
  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& prefix);

  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return num_shards_; }

  struct Entry {
    DataType dtype = DT_INVALID;
    TensorShape shape;                // of the whole tensor
    std::vector<TensorSlice> slices;  // empty if the tensor was saved as a whole
  };
  // The names of all tensors, in bytewise order. A tensor that was saved in slices is listed once.
  std::vector<std::string> names() const;
  bool Contains(std::string_view name) const;
  // Type, shape and slices of a tensor. NOT_FOUND "Key <name> not found in checkpoint '<prefix>'"
  // if there is no such tensor.
  absl::StatusOr<Entry> Find(std::string_view name) const;
  // The whole tensor, assembled if it was saved in slices.
  absl::StatusOr<Tensor> Read(std::string_view name) const;
  // A slice of the tensor. INVALID_ARGUMENT if the saved slices do not cover it.
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
  // The file with the bytes of an entry. DATA_LOSS if the file is too short, or if the number of
  // bytes does not match type and shape. Checked before memory is allocated.
  absl::StatusOr<FileReader*> Locate(std::string_view name, const pb::BundleEntryProto& entry,
                                     const Entry& decoded) const;
  // A saved slice that intersects a requested slice.
  struct Part {
    std::string shown;
    TensorSlice slice;
    const pb::BundleEntryProto* proto;
    Entry entry;
  };
  absl::StatusOr<std::vector<Part>> PartsOf(std::string_view name, const Entry& whole,
                                            const TensorSlice& slice) const;
  // Reads the bytes of an entry and checks their checksum.
  absl::StatusOr<Tensor> ReadEntry(std::string_view name, const pb::BundleEntryProto& entry,
                                   const Entry& decoded) const;
  absl::Status ReadStrings(std::string_view name, const pb::BundleEntryProto& entry,
                           const FileReader& file, Tensor* tensor) const;
  absl::StatusOr<Tensor> ReadVariants(std::string_view name, const pb::BundleEntryProto& entry,
                                      const FileReader& file, const TensorShape& shape) const;

  const std::string prefix_;
  int num_shards_ = 0;
  std::map<std::string, pb::BundleEntryProto, std::less<>> entries_;
  mutable Mutex mutex_;
  mutable std::map<int, std::unique_ptr<FileReader>> shards_ ABSL_GUARDED_BY(mutex_);
};

struct MergeOptions {
  // Removes the index files of the sources, and the sources' folders if these are empty then.
  bool delete_old_dirs = true;
  // Skips sources that do not exist. If false, they are an error (INVALID_ARGUMENT).
  bool allow_missing_files = false;
};
// Merges several checkpoints into one. Renames their data files and merges their indices. The
// destination may be one of the sources, which a crash during the merge can then damage.
// INVALID_ARGUMENT if no source exists.
absl::Status MergeBundles(const std::vector<std::string>& sources, const std::string& destination,
                          MergeOptions options);

// Removes all files of the checkpoint, the index first.
absl::Status RemoveBundle(const std::string& prefix);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_BUNDLE_H_
