// Datasets that keep elements: read ahead, or for the next time.
#include <condition_variable>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"

namespace sluice {
namespace {

using Iterating = absl::StatusOr<IteratorPointer>;

// Reads ahead with a thread of its own, from the first call on.
class PrefetchIterator : public DatasetIterator {
 public:
  static Iterating Make(const DatasetPointer& input, int64_t size, Reading& reading) {
    auto iterator = std::unique_ptr<PrefetchIterator>(new PrefetchIterator(size, reading));
    SLUICE_ASSIGN_OR_RETURN(iterator->inner_, input->Iterate(iterator->reading_));
    return IteratorPointer(std::move(iterator));
  }

  ~PrefetchIterator() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (!thread_.joinable()) return;
    reading_.cancellation.StartCancel();  // the thread may be in a function that waits
    thread_.join();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (!thread_.joinable()) thread_ = std::thread([this] { Read(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || at_end_; });
    if (ready_.empty()) return false;
    absl::StatusOr<Tensors> next = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    if (!next.ok()) return next.status();
    *element = *std::move(next);
    return true;
  }

 private:
  PrefetchIterator(int64_t size, Reading& reading) : size_(size), reading_(reading) {}

  void Read() {
    while (true) {
      Tensors element;
      const absl::StatusOr<bool> any = inner_->Next(&element);
      std::unique_lock lock(mutex_);
      if (!any.ok()) {
        ready_.push_back(any.status());
      } else if (*any) {
        ready_.push_back(std::move(element));
      } else {
        at_end_ = true;
      }
      changed_.notify_all();
      changed_.wait(
          lock, [&] { return stop_ || at_end_ || static_cast<int64_t>(ready_.size()) < size_; });
      if (stop_ || at_end_) return;
    }
  }

  const int64_t size_;
  Reading reading_;  // its own: it may end before the rest
  IteratorPointer inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<absl::StatusOr<Tensors>> ready_;  // guarded by mutex_
  bool at_end_ = false;                        // likewise
  bool stop_ = false;                          // likewise
  std::thread thread_;
};

absl::Status PrefetchDataset(KernelContext& c) {
  constexpr int64_t kAutotune = -1;
  constexpr int64_t kAutotuned = 8;
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto asked, ScalarInput<int64_t>(c, 1, "buffer_size"));
  if (asked < kAutotune) {
    return InvalidArgument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  }
  const int64_t size = asked == kAutotune ? kAutotuned : asked;
  const auto iterate = [=](Reading& reading) -> Iterating {
    if (size == 0) return input->Iterate(reading);
    return PrefetchIterator::Make(input, size, reading);
  };
  c.set_output(0, TensorOf(MakeDataset(iterate)));
  return absl::OkStatus();
}

// What was read of a dataset, once it was read to its end.
struct Cache {
  std::mutex mutex;
  std::optional<std::vector<Tensors>> elements;  // guarded by mutex
};

absl::Status CacheDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto file, ScalarInput<std::string>(c, 1, "filename"));
  if (!file.empty()) {
    return absl::UnimplementedError(
        StrCat(c.node().Describe(), ": a cache in a file is not supported, got '", file, "'"));
  }
  auto cache = std::make_shared<Cache>();
  const auto iterate = [=](Reading& reading) -> Iterating {
    std::unique_lock lock(cache->mutex);
    if (cache->elements.has_value()) {
      return MakeIterator(
          [cache, at = size_t{0}](Tensors* element) mutable -> absl::StatusOr<bool> {
            // Never changed once it is there.
            if (at == cache->elements->size()) return false;
            *element = (*cache->elements)[at++];
            return true;
          });
    }
    lock.unlock();
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
    return MakeIterator([cache, inner = std::shared_ptr<DatasetIterator>(std::move(start)),
                         seen = std::vector<Tensors>(),
                         is_over = false](Tensors* element) mutable -> absl::StatusOr<bool> {
      if (is_over) return false;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
      if (any) {
        seen.push_back(*element);
        return true;
      }
      is_over = true;
      std::lock_guard guard(cache->mutex);
      if (!cache->elements.has_value()) cache->elements = std::move(seen);
      return false;
    });
  };
  c.set_output(0, TensorOf(MakeDataset(iterate)));
  return absl::OkStatus();
}

KERNEL(CacheDataset, FunctionKernel<CacheDataset>);
KERNEL(PrefetchDataset, FunctionKernel<PrefetchDataset>);

}  // namespace
}  // namespace sluice
