#include "executor/collective/exchange.h"

#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

// The size in bytes from which a ring is faster than a tree. The time for smaller tensors depends
// on the number of messages in sequence, and a tree has fewer. The time for larger tensors depends
// on the bytes that each task sends, and in a ring these are fewer.
constexpr size_t kRingBytes = 64 << 10;

absl::Status CheckMessage(const Tensor& got, const Tensor& wanted_type, int64_t elements) {
  if (got.dtype() == wanted_type.dtype() && got.num_elements() == elements) {
    return absl::OkStatus();
  }
  return InvalidArgument("expected ", elements, " elements of ", DataTypeName(wanted_type.dtype()),
                         " from another member, got ", got.num_elements(), " of ",
                         DataTypeName(got.dtype()));
}

// Part p of the data travels around the ring. After n-1 steps task p-1 has its sum, after n-1 more
// steps all tasks have it. A posted part is not overwritten before its receiver has it, because the
// new values are computed from it.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  Ring(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done)
      : party_(std::move(party)), op_(op), values_(std::move(values)), done_(std::move(done)) {}

  void Step(int step) {
    const int n = party_.size;
    if (step == 2 * (n - 1)) return done_(std::move(values_));
    const int out = Wrap(party_.rank - step);
    const int in = Wrap(party_.rank - step - 1);
    const std::string name = StrCat("s", step);
    party_.links->Post(name, Elements(values_, Begin(out), Begin(out + 1)));
    party_.links->Fetch(Wrap(party_.rank - 1), name,
                        [self = shared_from_this(), step, in](absl::StatusOr<Tensor> part) {
                          self->Received(step, in, std::move(part));
                        });
  }

 private:
  int Wrap(int i) const { return ((i % party_.size) + party_.size) % party_.size; }
  int64_t Begin(int part) const { return values_.num_elements() * part / party_.size; }

  void Received(int step, int in, absl::StatusOr<Tensor> part) {
    const int64_t begin = Begin(in);
    absl::Status status = part.status();
    if (status.ok()) status = CheckMessage(*part, values_, Begin(in + 1) - begin);
    if (!status.ok()) return done_(status);
    if (step < party_.size - 1) {
      Merge(op_, values_, begin, *part);
    } else if (part->num_elements() > 0) {
      Tensor to = Elements(values_, begin, Begin(in + 1));
      std::memcpy(to.raw(), part->raw(), part->bytes());
    }
    Step(step + 1);
  }

  const ExchangeParty party_;
  const MergeOp op_;
  Tensor values_;
  const ExchangeDone done_;
};

// Ranks count from the root; the parent of r is r without its lowest bit.
class Tree : public std::enable_shared_from_this<Tree> {
 public:
  Tree(ExchangeParty party, int root, Tensor values, ExchangeDone done)
      : party_(std::move(party)),
        root_(root),
        rank_((party_.rank - root + party_.size) % party_.size),
        values_(std::move(values)),
        done_(std::move(done)) {}

  // Adds the values of child rank_ + bit and of the children after it.
  void Reduce(MergeOp op, int bit) {
    if (bit >= party_.size) return Broadcast();
    if ((rank_ & bit) != 0) {
      party_.links->Post("up", values_);
      return Broadcast();
    }
    if (rank_ + bit >= party_.size) return Reduce(op, bit * 2);
    party_.links->Fetch(
        Task(rank_ + bit), "up", [self = shared_from_this(), op, bit](absl::StatusOr<Tensor> sum) {
          absl::Status status = sum.status();
          if (status.ok()) status = CheckMessage(*sum, self->values_, self->values_.num_elements());
          if (!status.ok()) return self->done_(status);
          Merge(op, self->values_, 0, *sum);
          self->Reduce(op, bit * 2);
        });
  }

  void Broadcast() {
    if (rank_ == 0) return Received(std::move(values_));
    party_.links->Fetch(Task(rank_ & (rank_ - 1)), StrCat("down", rank_),
                        [self = shared_from_this()](absl::StatusOr<Tensor> value) {
                          if (!value.ok()) return self->done_(value.status());
                          self->Received(*std::move(value));
                        });
  }

 private:
  int Task(int rank) const { return (rank + root_) % party_.size; }
  void Received(Tensor value) {
    // Sends to the children, first to the one with the largest subtree.
    int lowest = 1;
    while (lowest < party_.size && (rank_ & lowest) == 0) lowest *= 2;
    for (int bit = lowest / 2; bit > 0; bit /= 2) {
      if (rank_ + bit < party_.size) party_.links->Post(StrCat("down", rank_ + bit), value);
    }
    done_(std::move(value));
  }

  const ExchangeParty party_;
  const int root_;
  const int rank_;  // from the root
  Tensor values_;
  const ExchangeDone done_;
};

class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  Gathering(ExchangeParty party, Tensor block, std::function<void(absl::StatusOr<Tensors>)> done)
      : party_(std::move(party)), blocks_(party_.size), done_(std::move(done)) {
    blocks_[party_.rank] = std::move(block);
  }

  void Step(int step) {
    const int n = party_.size;
    if (step == n - 1) return done_(std::move(blocks_));
    const int in = (party_.rank - step - 1 + n) % n;
    const std::string name = StrCat("s", step);
    party_.links->Post(name, blocks_[(party_.rank - step + n) % n]);
    party_.links->Fetch((party_.rank - 1 + n) % n, name,
                        [self = shared_from_this(), step, in](absl::StatusOr<Tensor> block) {
                          if (!block.ok()) return self->done_(block.status());
                          self->blocks_[in] = *std::move(block);
                          self->Step(step + 1);
                        });
  }

 private:
  const ExchangeParty party_;
  Tensors blocks_;
  const std::function<void(absl::StatusOr<Tensors>)> done_;
};

}  // namespace

void RingReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done) {
  std::make_shared<Ring>(std::move(party), op, std::move(values), std::move(done))->Step(0);
}

void TreeReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done) {
  std::make_shared<Tree>(std::move(party), 0, std::move(values), std::move(done))->Reduce(op, 1);
}

void RingGather(ExchangeParty party, Tensor block,
                std::function<void(absl::StatusOr<Tensors>)> done) {
  std::make_shared<Gathering>(std::move(party), std::move(block), std::move(done))->Step(0);
}

void TreeBroadcast(ExchangeParty party, int root, Tensor value, ExchangeDone done) {
  std::make_shared<Tree>(std::move(party), root, std::move(value), std::move(done))->Broadcast();
}

bool PrefersRing(int size, size_t bytes) { return size <= 3 || bytes >= kRingBytes; }

}  // namespace sluice
