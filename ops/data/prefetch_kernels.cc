// PrefetchDataset.
#include <deque>
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

// Reads ahead in a thread of its own, from the first call of Next on.
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
    thread_.join();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (!thread_.joinable()) thread_ = std::thread([this] { Read(); });
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
    while (true) {
      Tensors element;
      const absl::StatusOr<bool> any = inner_->Next(&element);
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
  std::thread thread_;
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
  return MakeDataset(input->facts(), [input, size](Reading& reading) {
    return PrefetchIterator::Make(input, size, reading);
  });
}

KERNEL(PrefetchDataset, DatasetKernel<PrefetchDataset>);

}  // namespace
}  // namespace sluice
