#include "ops/data/dataset_reader.h"

#include "graph/status.h"

namespace sluice {

DatasetReader::State::State(std::string resource)
    : attempts(std::move(resource), [this] {
        attempts.mutex().AssertHeld();
        return source == nullptr ? "no dataset" : at_end ? "at its end" : "reading";
      }) {}

DatasetReader::DatasetReader(std::string name, std::vector<DataType> types,
                             std::vector<PartialShape> shapes, std::shared_ptr<State> state)
    : name_(std::move(name)),
      types_(std::move(types)),
      shapes_(std::move(shapes)),
      state_(std::move(state)) {}

void DatasetReader::Stop() {
  const ReaderGate::Reader open(&state_->gate);
  std::shared_ptr<Source> source;
  Thread thread;
  {
    ScopedLock lock(&thread_mutex_);
    thread = std::move(thread_);
  }
  {
    ScopedLock lock(&state_->attempts.mutex());
    source = std::exchange(state_->source, nullptr);
    state_->wake.NotifyAll();
  }
  if (source != nullptr) source->reading.cancellation.StartCancel();
  if (!thread.joinable()) return;
  // Does not wait for the current thread: it may be running a callback that releases the last
  // reference to the resource.
  if (thread.IsCurrent()) {
    thread.Detach();
  } else {
    thread.Join();
  }
}

absl::Status DatasetReader::Start(const std::shared_ptr<Source>& source,
                                  const std::function<void()>& reset,
                                  const std::function<void()>& read) {
  while (true) {
    Stop();
    ScopedLock lock(&thread_mutex_);
    if (thread_.joinable()) continue;  // meanwhile, another call started a reading
    state_->attempts.Change([&] {
      state_->attempts.mutex().AssertHeld();
      reset();
      state_->at_end = false;
      state_->source = source;
    });
    absl::StatusOr<Thread> thread =
        Thread::Start(StrCat("iterator ", name_), ThreadUse::kGraphs, read);
    if (thread.ok()) {
      thread_ = *std::move(thread);
    } else {
      state_->attempts.Change([&] {
        state_->attempts.mutex().AssertHeld();
        state_->source = nullptr;
      });
    }
    return thread.status();
  }
}

}  // namespace sluice
