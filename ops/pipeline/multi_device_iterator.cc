#include "ops/pipeline/multi_device_iterator.h"

#include <utility>

#include "executor/wait/out_of_memory.h"
#include "graph/status.h"

namespace sluice {

MultiDeviceIterator::State::State(const std::string& name, size_t num_shards)
    : DatasetReader::State("multi-device iterator '" + name + "'"), shards(num_shards) {}

bool MultiDeviceIterator::State::ShouldRead() const {
  const Shard& next = shards[turn];
  return next.requested > 0 ||
         (has_begun && static_cast<int64_t>(next.ready.size()) < max_buffer_size);
}

MultiDeviceIterator::MultiDeviceIterator(std::string name, size_t shards,
                                         std::vector<DataType> types,
                                         std::vector<PartialShape> shapes)
    : state_(std::make_shared<State>(name, shards)),
      reader_(std::move(name), std::move(types), std::move(shapes), state_) {}

std::string MultiDeviceIterator::DebugString() const { return state_->attempts.Describe(); }

absl::StatusOr<int64_t> MultiDeviceIterator::SetDataset(const DatasetPointer& dataset,
                                                        int64_t max_buffer_size) {
  const ReaderGate::Reader open(&state_->gate);
  auto source = std::make_shared<Source>(dataset);
  source->reading.gate = &state_->gate;
  source->reading.reads_ahead = true;
  SLUICE_ASSIGN_OR_RETURN(source->iterator, dataset->Iterate(source->reading));
  int64_t incarnation = 0;
  const auto reset = [&] {
    state_->attempts.mutex().AssertHeld();
    for (Shard& shard : state_->shards) shard = Shard();
    state_->turn = 0;
    state_->has_begun = false;
    state_->max_buffer_size = max_buffer_size;
    incarnation = ++state_->incarnation;
  };
  SLUICE_RETURN_IF_ERROR(
      reader_.Start(source, reset, [state = state_, source] { Read(state, source); }));
  return incarnation;
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
  reader_.Take(shared_from_this(), caller, static_cast<int>(shard), std::move(attempt),
               std::move(taken));
}

}  // namespace sluice
