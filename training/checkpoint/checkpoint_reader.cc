#include "training/checkpoint/checkpoint_reader.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/v1.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

template <typename Entry>
SavedTensor Row(const std::string& name, const Entry& entry) {
  SavedTensor row = {name, entry.dtype, entry.shape, {}};
  for (const TensorSlice& slice : entry.slices) {
    if (!slice.IsFull()) row.slices.push_back(slice.ToString());
  }
  return row;
}

}  // namespace

CheckpointReader::CheckpointReader() = default;
CheckpointReader::~CheckpointReader() = default;

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(const std::string& path) {
  auto reader = std::unique_ptr<CheckpointReader>(new CheckpointReader());
  reader->path_ = path;
  if (IsDirectory(path)) {
    SLUICE_ASSIGN_OR_RETURN(reader->path_, LatestCheckpoint(path));
  }
  if (FileExists(BundleIndexName(reader->path_))) {
    SLUICE_ASSIGN_OR_RETURN(reader->bundle_, BundleReader::Open(reader->path_));
    for (const std::string& name : reader->bundle_->names()) {
      SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader->bundle_->Find(name));
      reader->tensors_.push_back(Row(name, entry));
    }
    return reader;
  }
  SLUICE_ASSIGN_OR_RETURN(V1Reader v1, V1Reader::Open(reader->path_));
  reader->v1_ = std::make_unique<V1Reader>(std::move(v1));
  for (const std::string& name : reader->v1_->names()) {
    SLUICE_ASSIGN_OR_RETURN(const V1Reader::Entry entry, reader->v1_->Find(name));
    reader->tensors_.push_back(Row(name, entry));
  }
  return reader;
}

int CheckpointReader::num_shards() const { return bundle_ ? bundle_->num_shards() : 1; }

const SavedTensor* CheckpointReader::Find(std::string_view name) const {
  const auto it =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const SavedTensor& t, std::string_view n) { return t.name < n; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

absl::StatusOr<Tensor> CheckpointReader::Read(std::string_view name) const {
  if (bundle_) return bundle_->Read(name);
  SLUICE_ASSIGN_OR_RETURN(const V1Reader::Entry entry, v1_->Find(name));
  return v1_->ReadSlice(name, TensorSlice::Full(entry.shape.rank()));
}

}  // namespace sluice
