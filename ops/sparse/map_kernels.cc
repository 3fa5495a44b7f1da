#include <map>

#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/sparse/minibatch.h"

namespace sluice {
namespace {

// A map that stores sparse tensors under numbers.
//
// Thread safety: all methods may be called from any thread.
class SparseTensorsMap : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow16SparseTensorsMapE";

  std::string DebugString() const override {
    ScopedLock lock(&mutex_);
    return StrCat("sparse tensors: ", tensors_.size());
  }
  int64_t Add(SparseParts parts) {
    ScopedLock lock(&mutex_);
    tensors_.emplace(next_, std::move(parts));
    return next_++;
  }
  // Removes and returns all these tensors, or none of them if one is missing.
  absl::StatusOr<std::vector<SparseParts>> Take(absl::Span<const int64_t> numbers) {
    ScopedLock lock(&mutex_);
    std::vector<SparseParts> taken;
    for (int64_t number : numbers) {
      const auto found = tensors_.find(number);
      SLUICE_INVALID_IF(found == tensors_.end(), "Unable to find SparseTensor: ", number,
                        " in map");
      taken.push_back(found->second);
    }
    for (int64_t number : numbers) tensors_.erase(number);
    return taken;
  }

 private:
  mutable Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, SparseParts> tensors_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::shared_ptr<SparseTensorsMap>> MapOf(KernelContext& c,
                                                        const ResourceName& name) {
  return c.resources().LookupOrCreate<SparseTensorsMap>(
      name.container, name.name, []() -> absl::StatusOr<std::shared_ptr<SparseTensorsMap>> {
        return std::make_shared<SparseTensorsMap>();
      });
}

class MapKernel : public Kernel {
 public:
  explicit MapKernel(ResourceName name) : name_(std::move(name)) {}

 protected:
  const ResourceName& name() const { return name_; }

 private:
  const ResourceName name_;
};

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeMapKernel(KernelInit& init) {
  SLUICE_ASSIGN_OR_RETURN(ResourceName name, ResourceNameOf(init, true));
  return std::unique_ptr<Kernel>(new K(std::move(name)));
}

class AddSparseKernel : public MapKernel {
 public:
  using MapKernel::MapKernel;
  static auto Make(KernelInit& init) { return MakeMapKernel<AddSparseKernel>(init); }
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(SparseParts parts, SparseInput(c));
    SLUICE_INVALID_IF(
        parts.indices.dim(0) != parts.values.dim(0) || parts.indices.dim(1) != parts.shape.dim(0),
        "Dimensions of indices, values and shape do not fit: ", parts.indices.shape().ToString(),
        ", ", parts.values.shape().ToString(), ", ", parts.shape.shape().ToString());
    SLUICE_RETURN_IF_ERROR(TensorShape::Make(parts.shape.flat<int64_t>()).status());
    SLUICE_ASSIGN_OR_RETURN(const auto map, MapOf(c, name()));
    c.set_output(0, Tensor::Scalar<int64_t>(map->Add(std::move(parts))));
    return absl::OkStatus();
  }
};
KERNEL(AddSparseToTensorsMap, AddSparseKernel);

class AddManySparseKernel : public MapKernel {
 public:
  using MapKernel::MapKernel;
  static auto Make(KernelInit& init) { return MakeMapKernel<AddManySparseKernel>(init); }
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const SparseParts minibatch, SparseInput(c));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<SparseParts> examples, SplitMinibatch(minibatch));
    SLUICE_ASSIGN_OR_RETURN(const auto map, MapOf(c, name()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(0, {static_cast<int64_t>(examples.size())}));
    // As in TensorFlow, the rows that have entries get the first numbers.
    for (const bool is_empty : {false, true}) {
      for (size_t i = 0; i < examples.size(); ++i) {
        if ((examples[i].values.num_elements() == 0) != is_empty) continue;
        out->data<int64_t>()[i] = map->Add(examples[i]);
      }
    }
    return absl::OkStatus();
  }
};
KERNEL(AddManySparseToTensorsMap, AddManySparseKernel);

class TakeManySparseKernel : public MapKernel {
 public:
  using MapKernel::MapKernel;
  static auto Make(KernelInit& init) { return MakeMapKernel<TakeManySparseKernel>(init); }
  absl::Status Compute(KernelContext& c) override {
    const Tensor& numbers = c.input(0);
    SLUICE_RETURN_IF_ERROR(
        ExpectRank(numbers, 1, "sparse_handles should be a vector but received shape "));
    SLUICE_INVALID_IF(numbers.num_elements() == 0, "Must have at least 1 serialized SparseTensor, ",
                      "but input matrix has 0 rows");
    SLUICE_ASSIGN_OR_RETURN(const auto map, MapOf(c, name()));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<SparseParts> examples,
                            map->Take(numbers.flat<int64_t>()));
    return SetMinibatch(c, examples, numbers.shape(), c.output_dtype(1));
  }
};
KERNEL(TakeManySparseFromTensorsMap, TakeManySparseKernel);

}  // namespace
}  // namespace sluice
