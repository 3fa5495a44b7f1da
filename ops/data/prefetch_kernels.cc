// Datasets that keep elements: read ahead, for the next time, or to draw from.
#include <condition_variable>
#include <deque>
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/cache.h"
#include "ops/data/dataset.h"
#include "ops/data/shuffle.h"

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
  c.set_output(0, TensorOf(MakeDataset(input->facts(), iterate)));
  return absl::OkStatus();
}

absl::Status CacheDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(DatasetPointer cached, Cached(c, std::make_shared<ElementCache>()));
  c.set_output(0, TensorOf(std::move(cached)));
  return absl::OkStatus();
}

absl::Status ShuffleDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, 2, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, 3, "seed2"));
  auto seeds = std::make_shared<ShuffleSeeds>(
      seed, seed2, c.node().AttrOr<bool>("reshuffle_each_iteration", true));
  SLUICE_ASSIGN_OR_RETURN(DatasetPointer shuffled, Shuffled(c, 1, std::move(seeds)));
  c.set_output(0, TensorOf(std::move(shuffled)));
  return absl::OkStatus();
}

KERNEL(CacheDataset, FunctionKernel<CacheDataset>);
KERNEL(PrefetchDataset, FunctionKernel<PrefetchDataset>);
KERNEL(ShuffleDataset, FunctionKernel<ShuffleDataset>);

}  // namespace
}  // namespace sluice
