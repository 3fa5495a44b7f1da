#include "ops/data/iterator_resource.h"

#include <utility>

#include "executor/wait/cancellable_files.h"
#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {

IteratorResource::IteratorResource(std::string name, std::vector<DataType> types,
                                   std::vector<PartialShape> shapes)
    : name_(std::move(name)),
      state_(std::make_shared<State>("iterator '" + name_ + "'")),
      reader_(name_, std::move(types), std::move(shapes), state_) {}

std::string IteratorResource::DebugString() const { return state_->attempts.Describe(); }

absl::Status IteratorResource::SetDataset(const DatasetPointer& dataset) {
  const ReaderGate::Reader open(&state_->gate);
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Source> source, Begin(dataset, {}));
  return Install(source, 0);
}

absl::StatusOr<std::shared_ptr<IteratorResource::Source>> IteratorResource::Begin(
    const DatasetPointer& dataset, SeedStates seeds) {
  auto source = std::make_shared<Source>(dataset);
  source->reading.seeds = std::make_shared<SeedLog>(std::move(seeds));
  source->reading.gate = &state_->gate;
  SLUICE_ASSIGN_OR_RETURN(source->iterator, dataset->Iterate(source->reading));
  return source;
}

absl::Status IteratorResource::Install(const std::shared_ptr<Source>& source, int64_t taken) {
  const auto reset = [this, taken] {
    state_->attempts.mutex().AssertHeld();
    state_->requested += static_cast<int64_t>(state_->ready.size());
    state_->ready.clear();
    state_->taken = taken;
  };
  return reader_.Start(source, reset, [state = state_, source] { Read(state, source); });
}

absl::StatusOr<IteratorPosition> IteratorResource::Position() const {
  ScopedLock lock(&state_->attempts.mutex());
  if (state_->source == nullptr) {
    return absl::FailedPreconditionError(
        "Save() failed because the iterator has not been initialized. Ensure that you have run the "
        "initializer operation for this iterator before saving it.");
  }
  return IteratorPosition{.taken = state_->taken, .seeds = state_->source->reading.seeds->states()};
}

absl::Status IteratorResource::MoveTo(const IteratorPosition& position,
                                      CancellationManager* cancellation) {
  const ReaderGate::Reader open(&state_->gate);
  DatasetPointer dataset;
  {
    ScopedLock lock(&state_->attempts.mutex());
    if (state_->source != nullptr) dataset = state_->source->dataset;
  }
  if (dataset == nullptr) {
    return absl::FailedPreconditionError(
        "Restore() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before restoring it.");
  }
  reader_.Stop();  // the old reading must no longer draw from the generators
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Source> source, Begin(dataset, position.seeds));
  int64_t taken = 0;
  {
    const LinkedCancellation linked(cancellation, source->reading.cancellation);
    for (; taken < position.taken; ++taken) {
      if (cancellation != nullptr && !cancellation->IsWanted()) {
        return absl::CancelledError("Operation was cancelled");
      }
      Tensors skipped;
      // Ignores errors, because earlier calls have already returned them.
      const absl::StatusOr<bool> any = source->iterator->Next(&skipped);
      if (any.ok() && !*any) break;
    }
  }
  if (source->reading.cancellation.IsCancelled()) {
    return absl::CancelledError("Operation was cancelled");
  }
  // A damaged position may lie beyond the end.
  return Install(source, taken);
}

void IteratorResource::Read(const std::shared_ptr<State>& state,
                            const std::shared_ptr<Source>& source) {
  const CancellableFiles files(source->reading.cancellation);
  while (true) {
    {
      ScopedLock lock(&state->attempts.mutex());
      while (state->source == source && state->requested == 0) {
        state->wake.Wait(&state->attempts.mutex());
      }
      if (state->source != source) return;
      --state->requested;
    }
    Tensors element;
    const absl::StatusOr<bool> more =
        OrOutOfMemory([&] { return source->iterator->Next(&element); });
    state->attempts.Change([&] {
      state->attempts.mutex().AssertHeld();
      if (state->source != source) {
        ++state->requested;  // the thread of the new source will read the requested element
        state->wake.NotifyAll();
      } else if (!more.ok()) {
        state->ready.push_back(more.status());
      } else if (*more) {
        state->ready.push_back(std::move(element));
      } else {
        state->at_end = true;
        state->requested = 0;
      }
    });
  }
}

void IteratorResource::GetNext(const Caller& caller, Taken taken) {
  auto attempt = [state = state_.get(),
                  has_requested = false](Tensors* found) mutable -> std::optional<absl::Status> {
    state->attempts.mutex().AssertHeld();
    if (state->source == nullptr) {
      return absl::FailedPreconditionError(
          "GetNext() failed because the iterator has not been initialized. Ensure that you have "
          "run the initializer operation for this iterator before getting the next element.");
    }
    if (!state->ready.empty()) {
      absl::StatusOr<Tensors> next = std::move(state->ready.front());
      state->ready.pop_front();
      ++state->taken;
      if (!next.ok()) return next.status();
      *found = *std::move(next);
      return absl::OkStatus();
    }
    if (state->at_end) return absl::OutOfRangeError("End of sequence");
    if (!std::exchange(has_requested, true)) {
      ++state->requested;
      state->wake.NotifyAll();
    }
    return std::nullopt;
  };
  reader_.Take(shared_from_this(), caller, 0, std::move(attempt), std::move(taken));
}

}  // namespace sluice
