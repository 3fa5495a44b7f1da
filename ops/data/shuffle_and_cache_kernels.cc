// Datasets that shuffle, cache or prefetch elements, and the resources that they share.
#include <deque>
#include <utility>

#include "executor/kernel/context.h"
#include "executor/wait/cancellable_files.h"
#include "executor/wait/out_of_memory.h"
#include "executor/wait/thread.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/file_cache.h"
#include "ops/data/resource_handle.h"
#include "ops/data/shuffle.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

// Keeps the elements of a dataset after its first complete reading.
class MemoryCache : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data18MemoryCacheManagerE";
  std::string DebugString() const override { return "a dataset's cache"; }

  // Returns a dataset of the elements, or null if there was no complete reading yet.
  DatasetPointer elements() const {
    ScopedLock lock(&mutex_);
    return elements_;
  }
  // Does nothing if another reading has set the elements.
  void SetElements(std::vector<Tensors> elements) {
    ScopedLock lock(&mutex_);
    if (elements_ == nullptr) elements_ = DatasetOf({}, std::move(elements));
  }

 private:
  mutable Mutex mutex_;
  DatasetPointer elements_ ABSL_GUARDED_BY(mutex_);
};

template <typename R>
absl::Status DummyHandle(KernelContext& c) {
  SetOwnedHandle<R>(c, nullptr);
  return absl::OkStatus();
}

struct IterationCounter : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data12_GLOBAL__N_116IterationCounterE";
  std::string DebugString() const override { return "the epochs of a dataset"; }
};

// Does nothing. A cache is deleted with the last reference to it, and the inputs of this op are
// references until the step releases them.
absl::Status DeleteMemoryCache(KernelContext&) { return absl::OkStatus(); }

// --- caches

absl::Status AnonymousMemoryCache(KernelContext& c) {
  SetOwnedHandle(c, std::make_shared<MemoryCache>());
  return absl::OkStatus();
}

// Returns the elements of `inner`, and stores them in the cache at the end.
IteratorPointer FillCache(std::shared_ptr<MemoryCache> cache, IteratorPointer inner) {
  return MakeIterator([cache = std::move(cache), inner = std::move(inner),
                       seen = std::vector<Tensors>(),
                       at_end = false](Tensors* element) mutable -> absl::StatusOr<bool> {
    if (at_end) return false;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
    if (any) {
      seen.push_back(*element);
      return true;
    }
    at_end = true;
    cache->SetElements(std::move(seen));
    return false;
  });
}

absl::StatusOr<DatasetPointer> Cached(const KernelContext& c, const DatasetPointer& input,
                                      std::shared_ptr<MemoryCache> cache) {
  SLUICE_ASSIGN_OR_RETURN(const auto file, ScalarInput<std::string>(c, "filename"));
  if (!file.empty()) {
    const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
    return CachedInFile(input, file, types.size());
  }
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    if (const DatasetPointer elements = cache->elements()) return elements->Iterate(reading);
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer inner, input->Iterate(reading));
    return FillCache(cache, std::move(inner));
  };
  return MakeDataset(input->facts(), iterate, SameElementOf(input));
}

absl::StatusOr<DatasetPointer> CacheDataset(const KernelContext& c, const DatasetPointer& input) {
  return Cached(c, input, std::make_shared<MemoryCache>());
}

absl::StatusOr<DatasetPointer> CacheDatasetV2(const KernelContext& c, const DatasetPointer& input) {
  const auto shared = LookupNamed<MemoryCache>(c, InputIndex(c, "cache"));
  if (shared.ok()) return Cached(c, input, *shared);
  if (!absl::IsNotFound(shared.status())) return shared.status();
  // The handle is a dummy that names no cache, so the cache is not shared.
  return Cached(c, input, std::make_shared<MemoryCache>());
}

// --- shuffled datasets

absl::Status AnonymousSeedGenerator(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reshuffle, ScalarInput<bool>(c, "reshuffle"));
  SLUICE_ASSIGN_OR_RETURN(auto seeds, NewSeeds(c, reshuffle));
  SetOwnedHandle(c, std::make_shared<SeedGenerator>(std::move(seeds)));
  return absl::OkStatus();
}

absl::StatusOr<DatasetPointer> RandomDatasetV2(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(auto seeds, SeedsFromInputs(c, "rerandomize_each_iteration"));
  return RandomNumbers(std::move(seeds));
}

absl::StatusOr<DatasetPointer> RepeatedShuffle(const KernelContext& c, const DatasetPointer& input,
                                               int64_t count) {
  SLUICE_ASSIGN_OR_RETURN(const auto size, ScalarInput<int64_t>(c, "buffer_size"));
  SLUICE_ASSIGN_OR_RETURN(auto seeds, SeedsFromInputs(c, "reshuffle_each_iteration"));
  return Shuffled(input, size, count, std::move(seeds));
}

absl::StatusOr<DatasetPointer> ShuffleDataset(const KernelContext& c, const DatasetPointer& input) {
  return RepeatedShuffle(c, input, 1);
}

absl::StatusOr<DatasetPointer> ShuffleAndRepeatDataset(const KernelContext& c,
                                                       const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, "count"));
  SLUICE_INVALID_IF(count <= 0 && count != -1, "count must be greater than zero or equal to -1.");
  return RepeatedShuffle(c, input, count);
}

KERNEL(AnonymousMemoryCache, FunctionKernel<AnonymousMemoryCache>);
KERNEL(AnonymousSeedGenerator, FunctionKernel<AnonymousSeedGenerator>);
KERNEL(CacheDataset, DatasetKernel<CacheDataset>);
KERNEL(CacheDatasetV2, DatasetKernel<CacheDatasetV2>);
KERNEL(DeleteMemoryCache, FunctionKernel<DeleteMemoryCache>);
KERNEL(DummyIterationCounter, FunctionKernel<DummyHandle<IterationCounter>>);
KERNEL(DummyMemoryCache, FunctionKernel<DummyHandle<MemoryCache>>);
KERNEL(DummySeedGenerator, FunctionKernel<DummyHandle<SeedGenerator>>);
KERNEL(RandomDatasetV2, DatasetKernel<RandomDatasetV2>);
KERNEL(ShuffleAndRepeatDataset, DatasetKernel<ShuffleAndRepeatDataset>);
KERNEL(ShuffleAndRepeatDatasetV2, DatasetKernel<ShuffleAndRepeatDataset>);
KERNEL(ShuffleDataset, DatasetKernel<ShuffleDataset>);
KERNEL(ShuffleDatasetV2, DatasetKernel<ShuffleDataset>);
KERNEL(ShuffleDatasetV3, DatasetKernel<ShuffleDataset>);

// Reads ahead on a separate thread, from the first call of Next on. If no thread can be started,
// Next reads.
class PrefetchIterator : public DatasetIterator {
 public:
  static absl::StatusOr<IteratorPointer> Make(const DatasetPointer& input, int64_t size,
                                              Reading& reading) {
    auto iterator = std::unique_ptr<PrefetchIterator>(new PrefetchIterator(size, reading));
    SLUICE_ASSIGN_OR_RETURN(iterator->inner_, input->Iterate(iterator->reading_));
    return IteratorPointer(std::move(iterator));
  }

  ~PrefetchIterator() override {
    {
      ScopedLock lock(&mutex_);
      stop_ = true;
    }
    changed_.NotifyAll();
    if (!thread_.joinable()) return;
    reading_.cancellation.StartCancel();  // the thread may be in a function that waits
    thread_.Join();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (!std::exchange(has_begun_, true)) {
      absl::StatusOr<Thread> thread =
          Thread::Start("PrefetchDataset", ThreadUse::kGraphs, [this] { Read(); });
      if (thread.ok()) thread_ = *std::move(thread);
    }
    if (!thread_.joinable()) return inner_->Next(element);
    ScopedLock lock(&mutex_);
    while (ready_.empty() && !at_end_) changed_.Wait(&mutex_);
    if (ready_.empty()) return false;
    absl::StatusOr<Tensors> next = std::move(ready_.front());
    ready_.pop_front();
    changed_.NotifyAll();
    if (!next.ok()) return next.status();
    *element = *std::move(next);
    return true;
  }

 private:
  PrefetchIterator(int64_t size, Reading& reading)
      : size_(static_cast<size_t>(size)), reading_(reading) {}

  void Read() {
    const CancellableFiles files(reading_.cancellation);
    while (true) {
      Tensors element;
      const absl::StatusOr<bool> any = OrOutOfMemory([&] { return inner_->Next(&element); });
      ScopedLock lock(&mutex_);
      if (!any.ok()) {
        ready_.push_back(any.status());
      } else if (*any) {
        ready_.push_back(std::move(element));
      } else {
        at_end_ = true;
      }
      changed_.NotifyAll();
      while (!stop_ && !at_end_ && ready_.size() >= size_) changed_.Wait(&mutex_);
      if (stop_ || at_end_) return;
    }
  }

  const size_t size_;
  Reading reading_;  // ends with this iterator
  IteratorPointer inner_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<absl::StatusOr<Tensors>> ready_ ABSL_GUARDED_BY(mutex_);
  bool at_end_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_begun_ = false;
  Thread thread_;
};

absl::StatusOr<DatasetPointer> PrefetchDataset(const KernelContext& c,
                                               const DatasetPointer& input) {
  constexpr int64_t kAutotune = -1;
  constexpr int64_t kAutotuned = 8;
  SLUICE_ASSIGN_OR_RETURN(auto size, ScalarInput<int64_t>(c, "buffer_size"));
  SLUICE_INVALID_IF(size < kAutotune,
                    "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  if (size == 0) return input;
  if (size == kAutotune) size = kAutotuned;
  const auto iterate = [input, size](Reading& reading) {
    return PrefetchIterator::Make(input, size, reading);
  };
  return MakeDataset(input->facts(), iterate, SameElementOf(input));
}

KERNEL(PrefetchDataset, DatasetKernel<PrefetchDataset>);

}  // namespace
}  // namespace sluice
