// Seeds, caches and iterators behind handles.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/cache.h"
#include "ops/data/dataset.h"
#include "ops/data/iterator_resource.h"
#include "ops/data/shuffle.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

struct SeedGenerator : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data20SeedGeneratorManagerE";
  explicit SeedGenerator(std::shared_ptr<ShuffleSeeds> own_seeds) : seeds(std::move(own_seeds)) {}
  std::string DebugString() const override { return "seeds of a shuffled dataset"; }
  const std::shared_ptr<ShuffleSeeds> seeds;
};

struct MemoryCache : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data18MemoryCacheManagerE";
  std::string DebugString() const override { return "a dataset's cache"; }
  const std::shared_ptr<ElementCache> cache = std::make_shared<ElementCache>();
};

// Second output of an op that makes a resource: holds it too.
class Deleter : public VariantObject {
 public:
  explicit Deleter(std::shared_ptr<void> resource) : resource_(std::move(resource)) {}
  std::string TypeName() const override { return "tensorflow::ResourceDeleter"; }

 private:
  const std::shared_ptr<void> resource_;
};

// A handle that owns the resource, named after the node, and a deleter where there is an output.
template <typename R>
void SetHandle(KernelContext& c, std::shared_ptr<R> resource) {
  ResourceHandle handle;
  handle.container = ResourceManager::kDefaultContainer;
  handle.name = c.name();
  handle.type_name = R::kTypeName;
  handle.object = resource;
  c.set_output(0, Tensor::Scalar(std::move(handle)));
  if (c.num_outputs() < 2) return;
  c.set_output(1, Tensor::Scalar(Variant(std::make_shared<Deleter>(std::move(resource)))));
}

template <typename R>
absl::Status Dummy(KernelContext& c) {
  SetHandle<R>(c, nullptr);
  return absl::OkStatus();
}

// What input `i` is a handle of; null for a dummy's.
template <typename R>
absl::StatusOr<std::shared_ptr<R>> ResourceOrNull(const KernelContext& c, int i) {
  absl::StatusOr<std::shared_ptr<R>> found = LookupNamed<R>(c, i);
  if (absl::IsNotFound(found.status())) return nullptr;
  return found;
}

// --- caches

absl::Status AnonymousMemoryCache(KernelContext& c) {
  SetHandle(c, std::make_shared<MemoryCache>());
  return absl::OkStatus();
}

absl::Status CacheDatasetV2(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<MemoryCache> shared, ResourceOrNull<MemoryCache>(c, 2));
  if (shared == nullptr) shared = std::make_shared<MemoryCache>();
  SLUICE_ASSIGN_OR_RETURN(DatasetPointer cached, Cached(c, shared->cache));
  c.set_output(0, TensorOf(std::move(cached)));
  return absl::OkStatus();
}

// --- seeds

absl::StatusOr<std::shared_ptr<ShuffleSeeds>> SeedsIn(const KernelContext& c, int first,
                                                      bool reshuffle) {
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, first, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, first + 1, "seed2"));
  return std::make_shared<ShuffleSeeds>(seed, seed2, reshuffle);
}

absl::Status AnonymousSeedGenerator(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reshuffle, ScalarInput<bool>(c, 2, "reshuffle"));
  SLUICE_ASSIGN_OR_RETURN(auto seeds, SeedsIn(c, 0, reshuffle));
  SetHandle(c, std::make_shared<SeedGenerator>(std::move(seeds)));
  return absl::OkStatus();
}

// Those of the generator in input `generator`; without one, those that inputs 2 and 3 and an
// attribute say, or (there are none) random ones.
absl::StatusOr<std::shared_ptr<ShuffleSeeds>> SeedsOf(const KernelContext& c, int generator) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<SeedGenerator> shared,
                          ResourceOrNull<SeedGenerator>(c, generator));
  if (shared != nullptr) return shared->seeds;
  if (generator == 2) return std::make_shared<ShuffleSeeds>(0, 0, true);
  return SeedsIn(c, 2, c.node().AttrOr<bool>("reshuffle_each_iteration", true));
}

template <int kGenerator>
absl::Status ShuffleDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(auto seeds, SeedsOf(c, kGenerator));
  SLUICE_ASSIGN_OR_RETURN(DatasetPointer shuffled, Shuffled(c, 1, std::move(seeds)));
  c.set_output(0, TensorOf(std::move(shuffled)));
  return absl::OkStatus();
}

absl::Status ShuffleAndRepeatDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, 4, "count"));
  if (count <= 0 && count != -1) {
    return InvalidArgument("count must be greater than zero or equal to -1.");
  }
  std::shared_ptr<ShuffleSeeds> seeds;
  if (c.num_inputs() > 5) {
    SLUICE_ASSIGN_OR_RETURN(seeds, SeedsOf(c, 5));
  } else {
    SLUICE_ASSIGN_OR_RETURN(seeds,
                            SeedsIn(c, 2, c.node().AttrOr<bool>("reshuffle_each_iteration", true)));
  }
  SLUICE_ASSIGN_OR_RETURN(DatasetPointer shuffled, Shuffled(c, count, std::move(seeds)));
  c.set_output(0, TensorOf(std::move(shuffled)));
  return absl::OkStatus();
}

// --- iterators

absl::Status AnonymousIterator(KernelContext& c) {
  SetHandle(c, std::make_shared<IteratorResource>(
                   c.name(), c.node().AttrOr<std::vector<DataType>>("output_types", {}),
                   c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {})));
  return absl::OkStatus();
}

// Nobody who comes later finds it by its name.
absl::Status DeleteIterator(KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.num_elements() != 1 || !handle.IsInitialized()) {
    return WrongHandle(c, 0, IteratorResource::kTypeName);
  }
  const auto& name = *handle.data<ResourceHandle>();
  const absl::Status status = c.resources().Delete<IteratorResource>(name.container, name.name);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

KERNEL(AnonymousIterator, FunctionKernel<AnonymousIterator>);
KERNEL(AnonymousIteratorV2, FunctionKernel<AnonymousIterator>);
KERNEL(AnonymousIteratorV3, FunctionKernel<AnonymousIterator>);
KERNEL(AnonymousMemoryCache, FunctionKernel<AnonymousMemoryCache>);
KERNEL(AnonymousSeedGenerator, FunctionKernel<AnonymousSeedGenerator>);
KERNEL(CacheDatasetV2, FunctionKernel<CacheDatasetV2>);
KERNEL(DeleteIterator, FunctionKernel<DeleteIterator>);
KERNEL(DummyMemoryCache, FunctionKernel<Dummy<MemoryCache>>);
KERNEL(DummySeedGenerator, FunctionKernel<Dummy<SeedGenerator>>);
KERNEL(ShuffleAndRepeatDataset, FunctionKernel<ShuffleAndRepeatDataset>);
KERNEL(ShuffleAndRepeatDatasetV2, FunctionKernel<ShuffleAndRepeatDataset>);
KERNEL(ShuffleDatasetV2, FunctionKernel<ShuffleDataset<2>>);
KERNEL(ShuffleDatasetV3, FunctionKernel<ShuffleDataset<4>>);

}  // namespace
}  // namespace sluice
