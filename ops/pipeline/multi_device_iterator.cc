#include "ops/pipeline/multi_device_iterator.h"

#include <utility>

#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {

MultiDeviceIterator::State::State(const std::string& name, size_t num_shards)
    : attempts("multi-device iterator '" + name + "'",
               [this] {
                 attempts.mutex().AssertHeld();
                 return source == nullptr ? "no dataset" : at_end ? "at its end" : "reading";
               }),
      shards(num_shards) {}

bool MultiDeviceIterator::State::ShouldRead() const {
  const Shard& next = shards[turn];
  return next.requested > 0 ||
         (has_begun && static_cast<int64_t>(next.ready.size()) < source->max_buffer_size);
}

MultiDeviceIterator::MultiDeviceIterator(std::string name, size_t shards,
                                         std::vector<DataType> types,
                                         std::vector<PartialShape> shapes)
    : name_(std::move(name)),
      types_(std::move(types)),
      shapes_(std::move(shapes)),
      state_(std::make_shared<State>(name_, shards)) {}

MultiDeviceIterator::~MultiDeviceIterator() { Stop(); }

std::string MultiDeviceIterator::DebugString() const { return state_->attempts.Describe(); }

void MultiDeviceIterator::Stop() {
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
  // The thread may run a callback that releases the last reference to the resource.
  if (thread.IsCurrent()) {
    thread.Detach();
  } else {
    thread.Join();
  }
}

absl::StatusOr<int64_t> MultiDeviceIterator::SetDataset(const DatasetPointer& dataset,
                                                        int64_t max_buffer_size) {
  const ReaderGate::Reader open(&state_->gate);
  auto source = std::make_shared<Source>();
  source->max_buffer_size = max_buffer_size;
  source->reading.gate = &state_->gate;
  source->reading.reads_ahead = true;
  SLUICE_ASSIGN_OR_RETURN(source->iterator, dataset->Iterate(source->reading));
  while (true) {
    Stop();
    ScopedLock lock(&thread_mutex_);
    if (thread_.joinable()) continue;  // another call set a dataset in between
    int64_t incarnation = 0;
    state_->attempts.Change([&] {
      state_->attempts.mutex().AssertHeld();
      for (Shard& shard : state_->shards) shard = Shard();
      state_->turn = 0;
      state_->has_begun = false;
      state_->at_end = false;
      state_->source = source;
      incarnation = ++state_->incarnation;
    });
    absl::StatusOr<Thread> thread =
        Thread::Start(StrCat("iterator ", name_), ThreadUse::kGraphs,
                      [state = state_, source] { Read(state, source); });
    if (thread.ok()) {
      thread_ = *std::move(thread);
      return incarnation;
    }
    state_->attempts.Change([&] {
      state_->attempts.mutex().AssertHeld();
      state_->source = nullptr;
    });
    return thread.status();
  }
}

void MultiDeviceIterator::Read(const std::shared_ptr<State>& state,
                               const std::shared_ptr<Source>& source) {
  for (bool at_end = false; !at_end;) {
    {
      ScopedLock lock(&state->attempts.mutex());
      while (state->source == source && !state->ShouldRead()) {
        state->wake.Wait(&state->attempts.mutex());
      }
      if (state->source != source) return;
      Shard& next = state->shards[state->turn];
      if (next.requested > 0) --next.requested;
    }
    Tensors element;
    const absl::StatusOr<bool> more =
        OrOutOfMemory([&] { return source->iterator->Next(&element); });
    at_end = more.ok() && !*more;
    state->attempts.Change([&] {
      state->attempts.mutex().AssertHeld();
      if (state->source != source) return;
      if (at_end) {
        state->at_end = true;
        return;
      }
      auto& ready = state->shards[state->turn].ready;
      more.ok() ? ready.push_back(std::move(element)) : ready.push_back(more.status());
      state->turn = (state->turn + 1) % state->shards.size();
    });
  }
}

void MultiDeviceIterator::GetNext(const Caller& caller, int64_t shard, int64_t incarnation,
                                  Taken taken) {
  auto attempt = [state = state_.get(), shard, incarnation,
                  has_requested = false](Tensors* found) mutable -> std::optional<absl::Status> {
    state->attempts.mutex().AssertHeld();
    if (state->source == nullptr) {
      return absl::FailedPreconditionError(
          "GetNextFromShard() failed because the iterator has not been initialized.");
    }
    if (incarnation != state->incarnation) {
      return InvalidArgument("Invalid incarnation id. Provided: ", incarnation,
                             "; Expected: ", state->incarnation);
    }
    if (shard < 0 || shard >= static_cast<int64_t>(state->shards.size())) {
      return InvalidArgument("expected a shard_num from 0 to ", state->shards.size() - 1, ", got ",
                             shard);
    }
    Shard& own = state->shards[static_cast<size_t>(shard)];
    if (!own.ready.empty()) {
      absl::StatusOr<Tensors> next = std::move(own.ready.front());
      own.ready.pop_front();
      state->wake.NotifyAll();
      if (!next.ok()) return next.status();
      *found = *std::move(next);
      return absl::OkStatus();
    }
    if (state->at_end) return absl::OutOfRangeError("End of sequence");
    if (!std::exchange(has_requested, true)) {
      state->has_begun = true;
      ++own.requested;
      state->wake.NotifyAll();
    }
    return std::nullopt;
  };
  const auto self = shared_from_this();
  state_->gate.Enter();
  state_->attempts.RunFor<Tensors>(self, caller, static_cast<int>(shard), std::move(attempt),
                                   [self, taken = std::move(taken)](absl::StatusOr<Tensors> next) {
                                     self->state_->gate.Leave();
                                     if (!next.ok()) return taken(std::move(next));
                                     const absl::Status status =
                                         CheckElement(*next, self->types_, self->shapes_);
                                     if (!status.ok()) return taken(status);
                                     taken(std::move(next));
                                   });
}

}  // namespace sluice
