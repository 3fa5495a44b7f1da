#include "ops/data/file_cache.h"

#include <ctime>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"

namespace sluice {
namespace {

// Returns TensorFlow's key of a component. Its numbers are padded with blanks, so that keys sort in
// the order of elements.
std::string KeyOf(int64_t element, size_t component, size_t components) {
  const auto width = static_cast<int>(StrCat(components).size());
  return absl::StrFormat("%*d_%*d", 7, element, width, component);
}

class FileCacheReader : public DatasetIterator {
 public:
  FileCacheReader(std::unique_ptr<BundleReader> reader, size_t components)
      : reader_(std::move(reader)), components_(components) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (!reader_->Contains(KeyOf(next_, 0, components_))) return false;
    element->clear();
    for (size_t i = 0; i < components_; ++i) {
      SLUICE_ASSIGN_OR_RETURN(Tensor component, reader_->Read(KeyOf(next_, i, components_)));
      element->push_back(std::move(component));
    }
    ++next_;
    return true;
  }

 private:
  const std::unique_ptr<BundleReader> reader_;
  const size_t components_;
  int64_t next_ = 0;
};

// Returns the elements and writes them to files. The files appear when the input ends.
class FileCacheWriter : public DatasetIterator {
 public:
  FileCacheWriter(IteratorPointer inner, const std::string& prefix, size_t components)
      : inner_(std::move(inner)),
        prefix_(prefix),
        lock_file_(prefix + "_0.lockfile"),
        components_(components) {}
  ~FileCacheWriter() override { Unlock(); }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (inner_ == nullptr) return false;
    if (writer_ == nullptr) SLUICE_RETURN_IF_ERROR(Begin());
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(element));
    if (!any) {
      inner_ = nullptr;
      SLUICE_RETURN_IF_ERROR(writer_->Finish());
      Unlock();
      return false;
    }
    SLUICE_INVALID_IF(element->size() != components_, "Element ", next_, " has ", element->size(),
                      " components, expected ", components_);
    for (size_t i = 0; i < components_; ++i) {
      SLUICE_RETURN_IF_ERROR(writer_->Add(KeyOf(next_, i, components_), (*element)[i]));
    }
    ++next_;
    return true;
  }

 private:
  absl::Status Begin() {
    const absl::Status locked =
        WriteNewFile(lock_file_, StrCat("Created at: ", std::time(nullptr)));
    if (absl::IsAlreadyExists(locked)) {
      const absl::StatusOr<std::string> contents = ReadWholeFile(lock_file_);
      return absl::AlreadyExistsError(StrCat(
          "There appears to be a concurrent caching iterator running - cache lockfile already "
          "exists ('",
          lock_file_,
          "'). If you are sure no other running TF computations are using this cache prefix, "
          "delete the lockfile and re-initialize the iterator. Lockfile contents: ",
          contents.ok() ? *contents : ""));
    }
    SLUICE_RETURN_IF_ERROR(locked);
    is_locked_ = true;
    // Another reading may have written the cache since this one found none.
    if (FileExists(BundleIndexName(prefix_))) {
      Unlock();
      return absl::AlreadyExistsError(StrCat("Existing cache files found: \n",
                                             BundleIndexName(prefix_),
                                             "\nTo continue delete the above files."));
    }
    SLUICE_ASSIGN_OR_RETURN(writer_, BundleWriter::Create(prefix_));
    return absl::OkStatus();
  }

  void Unlock() {
    if (std::exchange(is_locked_, false)) RemoveFile(lock_file_).IgnoreError();
  }

  IteratorPointer inner_;  // null after the end of the input
  const std::string prefix_, lock_file_;
  const size_t components_;
  std::unique_ptr<BundleWriter> writer_;  // null before the first element
  bool is_locked_ = false;
  int64_t next_ = 0;
};

}  // namespace

DatasetPointer CachedInFile(const DatasetPointer& input, const std::string& prefix,
                            size_t components) {
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    if (FileExists(BundleIndexName(prefix))) {
      SLUICE_ASSIGN_OR_RETURN(auto cache, BundleReader::Open(prefix));
      return std::make_unique<FileCacheReader>(std::move(cache), components);
    }
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer inner, input->Iterate(reading));
    return std::make_unique<FileCacheWriter>(std::move(inner), prefix, components);
  };
  return MakeDataset(input->facts(), iterate);
}

}  // namespace sluice
