#include "ops/data/shuffle.h"

#include <deque>
#include <random>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/data/iterator_position.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

// Draws elements at random from a ring buffer.
//
// The elements of an epoch are contiguous in the ring. The first element of the epoch moves to the
// place of the element that is drawn. Its own place is free then, and is the next one that a new
// element overwrites. Elements are drawn from the oldest epoch only.
class ShuffleIterator : public DatasetIterator {
 public:
  ShuffleIterator(DatasetPointer input, int64_t size, int64_t count,
                  std::shared_ptr<ShuffleSeeds> seeds, Reading& reading)
      : input_(std::move(input)),
        size_(static_cast<size_t>(size)),
        count_(count),
        seeds_(std::move(seeds)),
        reading_(reading) {
    if (reading_.seeds != nullptr) reading_.seeds->Use(seeds_);
    Reseed();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    SLUICE_RETURN_IF_ERROR(Fill());
    if (buffered_ == 0) return false;
    while (epochs_.front().begin == epochs_.front().end) {
      epochs_.pop_front();
      Reseed();
    }
    Epoch& epoch = epochs_.front();
    const size_t drawn = (epoch.begin + numbers_() % (epoch.end - epoch.begin)) % size_;
    *element = std::move(buffer_[drawn]);
    std::swap(buffer_[drawn], buffer_[epoch.begin % size_]);
    ++epoch.begin;
    --buffered_;
    return true;
  }

 private:
  // The elements [begin, end) of all epochs. Element i is at place i % size_ of the ring.
  struct Epoch {
    size_t begin, end;
  };
  // If the buffer holds elements of more epochs than this, no elements are read into it.
  static constexpr size_t kEpochsMax = 3;

  void Reseed() {
    const auto [seed, seed2] = seeds_->Next();
    philox_ = Philox(seed, seed2);
    numbers_ = SingleNumbers(&philox_);
  }

  bool NeedsMore() const {
    if (inner_ == nullptr && count_ != -1 && begun_ >= count_) return false;
    if (epochs_.size() > kEpochsMax && buffered_ > 0) return false;
    return buffered_ < size_;
  }

  absl::Status Fill() {
    while (NeedsMore()) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      if (inner_ == nullptr) {
        SLUICE_ASSIGN_OR_RETURN(inner_, input_->Iterate(reading_));
        epochs_.push_back({end_, end_});
        ++begun_;
      }
      Tensors next;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&next));
      if (any) {
        Add(std::move(next));
        continue;
      }
      inner_ = nullptr;
      // The input is empty, so infinite repetition yields no elements.
      if (count_ == -1 && end_ == 0) break;
    }
    return absl::OkStatus();
  }

  void Add(Tensors element) {
    const size_t place = end_ % size_;
    if (buffer_.size() <= place) buffer_.resize(place + 1);
    buffer_[place] = std::move(element);
    epochs_.back().end = ++end_;
    ++buffered_;
  }

  const DatasetPointer input_;
  const size_t size_;
  const int64_t count_;
  const std::shared_ptr<ShuffleSeeds> seeds_;
  Reading& reading_;
  IteratorPointer inner_;
  int64_t begun_ = 0;  // number of epochs that have begun
  Philox philox_{0, 0};
  SingleNumbers numbers_{&philox_};
  std::vector<Tensors> buffer_;  // grows up to size_ places
  size_t buffered_ = 0;
  size_t end_ = 0;  // number of elements that were added so far
  std::deque<Epoch> epochs_;
};

}  // namespace

ShuffleSeeds::ShuffleSeeds(std::string name, int64_t seed, int64_t seed2, bool reshuffle)
    : name_(std::move(name)), reshuffle_(reshuffle), philox_(0, 0), numbers_(&philox_) {
  if (seed == 0 && seed2 == 0) {
    std::random_device device;
    seed = (int64_t{device()} << 32) | device();
    seed2 = (int64_t{device()} << 32) | device();
  }
  SetState({.seed = seed, .seed2 = seed2});
}

std::pair<uint64_t, uint64_t> ShuffleSeeds::Next() {
  ScopedLock lock(&mutex_);
  state_.epochs = SaturatedSum(state_.epochs, 1);
  return Draw();
}

std::pair<uint64_t, uint64_t> ShuffleSeeds::Draw() {
  if (!reshuffle_) return {static_cast<uint64_t>(state_.seed), static_cast<uint64_t>(state_.seed2)};
  const uint64_t first = numbers_();
  return {first, numbers_()};
}

ShuffleSeeds::State ShuffleSeeds::state() const {
  ScopedLock lock(&mutex_);
  return state_;
}

void ShuffleSeeds::SetState(const State& state) {
  ScopedLock lock(&mutex_);
  state_ = state;
  philox_ = Philox(static_cast<uint64_t>(state.seed), static_cast<uint64_t>(state.seed2));
  numbers_ = SingleNumbers(&philox_);
  // Skips, because a saved position may state any number of epochs. A call of the generator gives
  // the seeds of two epochs.
  static_assert(Philox::kResults == 4);
  philox_.Skip(static_cast<uint64_t>(state.epochs) / 2);
  if (state.epochs % 2 != 0) Draw();
}

absl::StatusOr<DatasetPointer> Shuffled(const DatasetPointer& input, int64_t buffer_size,
                                        int64_t count, std::shared_ptr<ShuffleSeeds> seeds) {
  SLUICE_INVALID_IF(buffer_size <= 0,
                    "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  DatasetFacts facts = input->facts();
  if (count == -1) facts.cardinality = DatasetFacts::kInfinite;
  if (facts.is_finite()) facts.cardinality = DatasetFacts::Product(facts.cardinality, count);
  return MakeDataset(std::move(facts), [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<ShuffleIterator>(input, buffer_size, count, seeds, reading);
  });
}

absl::StatusOr<std::shared_ptr<ShuffleSeeds>> NewSeeds(const KernelContext& c, bool reshuffle) {
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, "seed2"));
  return std::make_shared<ShuffleSeeds>(c.name(), seed, seed2, reshuffle);
}

absl::StatusOr<std::shared_ptr<ShuffleSeeds>> SeedsFromInputs(const KernelContext& c,
                                                              const char* reshuffle) {
  if (HasInput(c, "seed_generator")) {
    const auto shared = LookupNamed<SeedGenerator>(c, InputIndex(c, "seed_generator"));
    if (shared.ok()) return (*shared)->seeds;
    if (!absl::IsNotFound(shared.status())) return shared.status();
  }
  if (!HasInput(c, "seed")) return std::make_shared<ShuffleSeeds>(c.name(), 0, 0, true);
  return NewSeeds(c, c.node().AttrOr<bool>(reshuffle, true));
}

DatasetPointer RandomNumbers(std::shared_ptr<ShuffleSeeds> seeds) {
  const auto iterate = [seeds](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    if (reading.seeds != nullptr) reading.seeds->Use(seeds);
    const auto [first, second] = seeds->Next();
    auto philox = std::make_shared<Philox>(first, second);
    return MakeIterator([philox, &reading, numbers = SingleNumbers(philox.get())](
                            Tensors* element) mutable -> absl::StatusOr<bool> {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      *element = {Tensor::Scalar<int64_t>(numbers())};
      return true;
    });
  };
  return MakeDataset({.cardinality = DatasetFacts::kInfinite}, iterate);
}

}  // namespace sluice
