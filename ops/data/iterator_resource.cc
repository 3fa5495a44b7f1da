#include "ops/data/iterator_resource.h"

#include <utility>

#include "graph/status.h"

namespace sluice {

IteratorResource::IteratorResource(std::string name, std::vector<DataType> types,
                                   std::vector<PartialShape> shapes)
    : name_(std::move(name)),
      types_(std::move(types)),
      shapes_(std::move(shapes)),
      state_(std::make_shared<State>(name_)) {}

IteratorResource::~IteratorResource() { Stop(); }

std::string IteratorResource::DebugString() const { return state_->attempts.Describe(); }

void IteratorResource::Stop() {
  std::shared_ptr<Source> source;
  std::thread thread;
  {
    std::lock_guard thread_lock(thread_mutex_);
    thread = std::move(thread_);
  }
  {
    std::lock_guard lock(state_->attempts.mutex());
    source = std::exchange(state_->source, nullptr);
    if (source != nullptr) source->stop = true;
    state_->wake.notify_all();
  }
  if (source != nullptr) source->reading.cancellation.StartCancel();
  if (!thread.joinable()) return;
  // The last to hold the resource may be a callback that the thread itself called.
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

absl::Status IteratorResource::SetDataset(const DatasetPointer& dataset) {
  auto source = std::make_shared<Source>();
  SLUICE_ASSIGN_OR_RETURN(source->iterator, dataset->Iterate(source->reading));
  std::unique_lock thread_lock(thread_mutex_, std::defer_lock);
  while (true) {
    Stop();
    thread_lock.lock();
    if (!thread_.joinable()) break;  // else another dataset was set at the same time
    thread_lock.unlock();
  }
  state_->attempts.Change([&] {
    state_->asked += static_cast<int64_t>(state_->ready.size());
    state_->ready.clear();
    state_->at_end = false;
    state_->source = source;
  });
  thread_ = std::thread([state = state_, source] { Read(state, source); });
  return absl::OkStatus();
}

void IteratorResource::Read(const std::shared_ptr<State>& state,
                            const std::shared_ptr<Source>& source) {
  while (true) {
    {
      std::unique_lock lock(state->attempts.mutex());
      state->wake.wait(lock, [&] { return source->stop || state->asked > 0; });
      if (source->stop) return;
      --state->asked;
    }
    Tensors element;
    const absl::StatusOr<bool> more = source->iterator->Next(&element);
    state->attempts.Change([&] {
      if (source->stop) {
        ++state->asked;  // whoever comes next reads it
        state->wake.notify_all();
      } else if (!more.ok()) {
        state->ready.push_back(more.status());
      } else if (*more) {
        state->ready.push_back(std::move(element));
      } else {
        state->at_end = true;
        state->asked = 0;
      }
    });
  }
}

absl::Status IteratorResource::CheckElement(const Tensors& element) const {
  if (element.size() != types_.size()) {
    return InvalidArgument("Number of components does not match: expected ", types_.size(),
                           " types but got ", element.size(), ".");
  }
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].dtype() != types_[i]) {
      return InvalidArgument("Data type mismatch at component ", i, ": expected ",
                             DataTypeName(types_[i]), " but got ", DataTypeName(element[i].dtype()),
                             ".");
    }
    if (i < shapes_.size() && !shapes_[i].IsCompatibleWith(element[i].shape())) {
      return InvalidArgument("Incompatible shapes at component ", i, ": expected ",
                             shapes_[i].ToString(), " but got ", element[i].shape().ToString(),
                             ".");
    }
  }
  return absl::OkStatus();
}

void IteratorResource::GetNext(const Caller& caller, Taken taken) {
  auto found = std::make_shared<Tensors>();
  auto has_asked = std::make_shared<bool>(false);
  State* state = state_.get();
  auto attempt = [state, found, has_asked]() -> std::optional<absl::Status> {
    if (state->source == nullptr) {
      return absl::FailedPreconditionError(
          "GetNext() failed because the iterator has not been initialized. Ensure that you have "
          "run the initializer operation for this iterator before getting the next element.");
    }
    if (!state->ready.empty()) {
      absl::StatusOr<Tensors> next = std::move(state->ready.front());
      state->ready.pop_front();
      if (!next.ok()) return next.status();
      *found = *std::move(next);
      return absl::OkStatus();
    }
    if (state->at_end) return absl::OutOfRangeError("End of sequence");
    if (!std::exchange(*has_asked, true)) {
      ++state->asked;
      state->wake.notify_all();
    }
    return std::nullopt;
  };
  state->attempts.Run(
      shared_from_this(), caller, 0, std::move(attempt),
      [self = shared_from_this(), found, taken = std::move(taken)](absl::Status status) {
        if (status.ok()) status = self->CheckElement(*found);
        if (!status.ok()) return taken(std::move(status));
        taken(std::move(*found));
      });
}

}  // namespace sluice
