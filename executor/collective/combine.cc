// Combines the inputs of a round, first within this task, then between the tasks.
#include <cstring>
#include <optional>
#include <utility>

#include "executor/collective/collective_state.h"
#include "executor/collective/exchange.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kRememberedRounds = 1024;

}  // namespace

class Collectives::Links final : public ExchangeLinks {
 public:
  Links(std::shared_ptr<Collectives> owner, RoundRef round, std::string prefix)
      : owner_(std::move(owner)), round_(std::move(round)), prefix_(std::move(prefix)) {}
  void Post(const std::string& name, Tensor value) override {
    owner_->Post(round_, prefix_ + name, std::move(value));
  }
  void Fetch(int from, const std::string& name,
             std::function<void(absl::StatusOr<Tensor>)> done) override {
    owner_->Fetch(round_, from, prefix_ + name, std::move(done));
  }

 private:
  const std::shared_ptr<Collectives> owner_;
  const RoundRef round_;
  const std::string prefix_;
};

void Collectives::Combine(const RoundRef& round) {
  switch (round->calls[0]->request.kind) {
    case CollectiveKind::kReduce:
      return CombineReduce(round);
    case CollectiveKind::kGather:
      return CombineGather(round);
    case CollectiveKind::kBroadcast:
      return CombineBroadcast(round);
  }
}

namespace {

absl::StatusOr<Tensor> Divided(absl::StatusOr<Tensor> sum, int n) {
  // Other tasks may still fetch the sum.
  if (sum.ok() && !sum->BufferIsUnique()) sum = sum->Clone();
  if (sum.ok()) Divide(*sum, n);
  return sum;
}

bool UsesRing(CollectiveAlgorithm algorithm, int size, size_t bytes) {
  if (algorithm == CollectiveAlgorithm::kAuto) return PrefersRing(size, bytes);
  return algorithm == CollectiveAlgorithm::kRing;
}

}  // namespace

void Collectives::CombineReduce(const RoundRef& round) {
  std::vector<Tensor> inputs;
  CollectiveCall first;
  {
    ScopedLock lock(&mutex_);
    if (round->is_ended) return;
    const CollectiveCall& r = round->calls[0]->request;
    first.merge = r.merge;
    first.final_op = r.final_op;
    first.algorithm = r.algorithm;
    first.shape = r.shape;
    for (const CallRef& call : round->calls) inputs.push_back(call->request.input);
  }
  absl::StatusOr<Tensor> sum = inputs[0].Clone();
  if (!sum.ok()) return Finish(round, sum.status());
  for (size_t i = 1; i < inputs.size(); ++i) Merge(first.merge, *sum, 0, inputs[i]);
  auto done = [self = shared_from_this(), round, final_op = first.final_op,
               shape = first.shape](absl::StatusOr<Tensor> merged) {
    if (final_op == FinalOp::kDiv) merged = Divided(std::move(merged), round->num_members);
    if (merged.ok()) merged = merged->Reshaped(shape);
    self->Finish(round, std::move(merged));
  };
  const int size = static_cast<int>(round->tasks.size());
  if (size == 1) return done(std::move(sum));
  ExchangeParty party{std::make_shared<Links>(shared_from_this(), round, ""), round->rank, size};
  if (UsesRing(first.algorithm, size, sum->bytes())) {
    RingReduce(std::move(party), first.merge, *std::move(sum), std::move(done));
  } else {
    TreeReduce(std::move(party), first.merge, *std::move(sum), std::move(done));
  }
}

void Collectives::CombineGather(const RoundRef& round) {
  Tensors inputs;
  TensorShape shape;
  {
    ScopedLock lock(&mutex_);
    if (round->is_ended) return;
    shape = round->calls[0]->request.shape;
    for (const CallRef& call : round->calls) inputs.push_back(call->request.input);
  }
  // Concatenates the members' rows. The ops do not allow strings and other objects.
  const auto join = [](const Tensors& parts, const TensorShape& whole) -> absl::StatusOr<Tensor> {
    SLUICE_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(Heap(), parts[0].dtype(), whole));
    char* at = static_cast<char*>(out.raw());
    for (const Tensor& part : parts) {
      if (part.bytes() > 0) std::memcpy(at, part.raw(), part.bytes());
      at += part.bytes();
    }
    return out;
  };
  int64_t here = 0;
  for (const Tensor& t : inputs) here += t.num_elements();
  const absl::StatusOr<Tensor> block = join(inputs, TensorShape({here}));
  if (!block.ok()) return Finish(round, block.status());
  const int size = static_cast<int>(round->tasks.size());
  if (size == 1) return Finish(round, block->Reshaped(shape));
  ExchangeParty party{std::make_shared<Links>(shared_from_this(), round, ""), round->rank, size};
  RingGather(std::move(party), *block,
             [self = shared_from_this(), round, join, shape](absl::StatusOr<Tensors> blocks) {
               if (!blocks.ok()) return self->Finish(round, blocks.status());
               int64_t elements = 0;
               const DataType dtype = blocks->front().dtype();
               for (const Tensor& b : *blocks) {
                 elements += b.num_elements();
                 if (b.dtype() == dtype) continue;
                 return self->Finish(
                     round, InvalidArgument("expected elements of type ", DataTypeName(dtype),
                                            " of all members, got ", DataTypeName(b.dtype())));
               }
               if (elements != shape.num_elements()) {
                 return self->Finish(round,
                                     InvalidArgument("expected ", shape.num_elements(),
                                                     " elements of all members, got ", elements));
               }
               self->Finish(round, join(*blocks, shape));
             });
}

std::optional<Tensor> Collectives::SourceOf(const Round& round) {
  for (const CallRef& call : round.calls) {
    if (call->request.is_source) return call->request.input;
  }
  return std::nullopt;
}

void Collectives::CombineBroadcast(const RoundRef& round) {
  std::optional<Tensor> source;
  int instance = 0;
  {
    ScopedLock lock(&mutex_);
    if (round->is_ended) return;
    instance = round->calls[0]->request.instance_key;
    source = SourceOf(*round);
  }
  const bool has_source = source.has_value();
  const Tensor value = has_source ? *source : Tensor();
  const int size = static_cast<int>(round->tasks.size());
  const absl::Status none =
      absl::InternalError(StrCat("Instance ", instance,
                                 " found no source for broadcast.  This could mean that there "
                                 "were group_size=",
                                 round->num_members, " BcastRecvs but no BcastSend."));
  if (size == 1) {
    return Finish(round, has_source ? absl::StatusOr<Tensor>(value) : none);
  }
  // In the first exchange all tasks find out which one has the source.
  const Tensor claim =
      Tensor::Vector<int64_t>({has_source ? 1 : 0, has_source ? int64_t{round->rank} : 0});
  auto self = shared_from_this();
  ExchangeParty who{std::make_shared<Links>(self, round, "who "), round->rank, size};
  TreeReduce(who, MergeOp::kAdd, claim,
             [self, round, value, none, size, instance](absl::StatusOr<Tensor> claims) {
               if (!claims.ok()) return self->Finish(round, claims.status());
               const int64_t sources = claims->data<int64_t>()[0];
               if (sources == 0) return self->Finish(round, none);
               if (sources > 1) {
                 return self->Finish(
                     round, absl::InternalError(StrCat("Instance ", instance, " has ", sources,
                                                       " sources of a broadcast, and takes one")));
               }
               const int root = static_cast<int>(claims->data<int64_t>()[1]);
               ExchangeParty party{std::make_shared<Links>(self, round, ""), round->rank, size};
               TreeBroadcast(
                   std::move(party), root, value,
                   [self, round](absl::StatusOr<Tensor> v) { self->Finish(round, std::move(v)); });
             });
}

void Collectives::Finish(const RoundRef& round, absl::StatusOr<Tensor> result) {
  Later later;
  ScopedLock lock(&mutex_);
  if (round->is_ended) return;
  Group& group = *groups_[round->group_key];
  if (!result.ok()) return FailRound(group, round, result.status(), later);
  round->is_ended = true;
  for (const CallRef& call : round->calls) {
    EndCall(call, result->Reshaped(call->request.shape), later);
  }
  round->calls.clear();
  if (group.generation != round->generation) return;
  ForgetIfDone(group, round);
  if (!group.is_of_one_step) return;
  group.ended.insert(round->id);
  group.ended_order.push_back(round->id);
  if (group.ended_order.size() <= kRememberedRounds) return;
  group.ended.erase(group.ended_order.front());
  group.ended_order.pop_front();
}

}  // namespace sluice
