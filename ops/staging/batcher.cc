#include "ops/staging/batcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "executor/wait/timer.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

int64_t NextId() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

std::chrono::microseconds Delay(int64_t us) {
  constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1000000;
  return std::chrono::microseconds(std::clamp<int64_t>(us, 0, kYear));
}

int64_t ElementsOfRow(const Tensor& t) {
  int64_t n = 1;
  for (int d = 1; d < t.rank(); ++d) n *= t.dim(d);
  return n;
}

// Concatenates the parts along dimension 0, and appends `padding` copies of the first row.
absl::StatusOr<Tensor> Joined(Allocator& allocator, const std::vector<const Tensor*>& parts,
                              int64_t padding) {
  TensorShape shape = parts[0]->shape();
  int64_t rows = padding;
  for (const Tensor* part : parts) {
    TensorShape own = part->shape();
    SLUICE_INVALID_IF(own.rank() != shape.rank(), "expected tensors of one rank, got shapes ",
                      shape.ToString(), " and ", own.ToString());
    rows += own.dim(0);
    own.set_dim(0, shape.dim(0));
    SLUICE_INVALID_IF(own != shape || part->dtype() != parts[0]->dtype(),
                      "Dimensions of inputs should match: shape[0] = ", shape.ToString(),
                      " vs. shape[i] = ", part->shape().ToString());
  }
  absl::InlinedVector<int64_t, 8> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(allocator, parts[0]->dtype(), shape));
  int64_t at = 0;
  for (const Tensor* part : parts) {
    CopyElements(*part, 0, part->num_elements(), &made, at);
    at += part->num_elements();
  }
  const int64_t row = padding > 0 ? ElementsOfRow(*parts[0]) : 0;
  for (int64_t i = 0; i < padding; ++i) CopyElements(made, 0, row, &made, at + i * row);
  return made;
}

absl::Status CheckIndex(const KernelContext& c, const Tensor& index) {
  if (index.rank() == 2 && index.dim(1) == 3) return absl::OkStatus();
  return InvalidArgument(c.node().op(), " node '", c.name(),
                         "': Wrong shape for index tensor. Expected 1st dimension size to be 3 ; "
                         "Got shape: ",
                         index.shape().ToString(), ".");
}

absl::StatusOr<int64_t> IdOf(const KernelContext& c, int input, const char* problem) {
  SLUICE_INVALID_IF(c.input(input).rank() != 0, c.node().op(), " node '", c.name(), "': ", problem,
                    c.input(input).shape().ToString(), ".");
  return *c.input(input).data<int64_t>();
}

// Returns the rows of each step. Copies them, because slices would keep the memory of the whole
// batch alive.
absl::StatusOr<std::map<int64_t, Tensor>> PartsOf(KernelContext& c) {
  const Tensor &data = c.input(0), &index = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckIndex(c, index));
  const int64_t rows = data.rank() == 0 ? 0 : data.dim(0);
  SLUICE_INVALID_IF(index.dim(0) > rows, "Unbatch node '", c.name(),
                    "': Wrong shape for index tensor. Expected 0th dimension size to be no greater "
                    "than ",
                    rows, "; Got: ", index.dim(0), ".");
  std::map<int64_t, Tensor> parts;
  for (int64_t k = 0; k < index.dim(0); ++k) {
    const int64_t* row = index.data<int64_t>() + 3 * k;
    SLUICE_INVALID_IF(row[1] < 0 || row[2] < row[1] || row[2] > rows, "Unbatch node '", c.name(),
                      "': expected some of ", rows, " rows, got [", row[1], ", ", row[2], ")");
    SLUICE_ASSIGN_OR_RETURN(Tensor part, data.SliceRows(row[1], row[2]).Clone(*c.step().allocator));
    if (parts.emplace(row[0], std::move(part)).second) continue;
    return absl::AlreadyExistsError("Multiple tensors returned for same batch key.");
  }
  return parts;
}

absl::Status Cancelled() { return absl::CancelledError("the wait for a batch was cancelled"); }

// Calls `f(*resource)` after `us` microseconds, unless the resource has been deleted by then.
template <typename R, typename F>
absl::Status CallAfter(int64_t us, const std::shared_ptr<R>& resource, F f) {
  const auto timer = Timer::Global().After(Delay(us), [weak = std::weak_ptr<R>(resource), f] {
    if (auto self = weak.lock()) f(*self);
  });
  return timer.status();
}

}  // namespace

absl::Status BatchLimits::Check() const {
  for (size_t i = 1; i < sizes.size(); ++i) {
    SLUICE_INVALID_IF(sizes[i] <= sizes[i - 1],
                      "allowed_batch_sizes entries must be monotonically increasing");
  }
  SLUICE_INVALID_IF(!sizes.empty() && sizes.back() != rows,
                    "final entry in allowed_batch_sizes must equal max_batch_size when "
                    "enable_large_batch_splitting is False, got ",
                    sizes.back(), " and ", rows);
  return absl::OkStatus();
}

bool WaitingCall::StartWait(std::string resource, std::function<void()> cancel,
                            std::function<std::string()> describe) {
  waits =
      wait.Start(CallerOf(*context), std::move(resource), std::move(cancel), std::move(describe));
  return waits;
}

void WaitingCall::Finish(absl::Status status) {
  if (waits) wait.End();
  if (!status.ok()) {
    status = Annotate(status, StrCat(context->node().op(), " node '", context->name(), "': "));
  }
  done(std::move(status));
}

void Batcher::Add(KernelContext& c, AsyncKernel::Done done) {
  auto call = std::make_unique<WaitingCall>(
      WaitingCall{.id = NextId(), .context = &c, .done = std::move(done)});
  if (absl::Status status = CheckTensors(c, &call->rows); !status.ok()) {
    return call->Finish(std::move(status));
  }
  WaitingCalls before, full;
  int64_t timed = -1;
  {
    ScopedLock lock(&mutex_);
    if (open_rows_ + call->rows > limits_.rows) before = TakeOpen();
    const auto describe = [weak = weak_from_this()] {
      const auto self = weak.lock();
      return self == nullptr ? std::string() : self->DebugString();
    };
    const auto cancel = [weak = weak_from_this(), id = call->id] {
      if (auto self = weak.lock()) self->Cancel(id);
    };
    if (call->StartWait(StrCat("batch '", name_, "'"), cancel, describe)) {
      open_rows_ += call->rows;
      open_.push_back(std::move(call));
      if (open_rows_ == limits_.rows || limits_.timeout_us <= 0) {
        full = TakeOpen();
      } else if (open_.size() == 1) {
        timed = batch_;
      }
    }
  }
  Finish(std::move(before));
  Finish(std::move(full));
  if (call != nullptr) return call->Finish(Cancelled());
  if (timed < 0) return;
  const absl::Status started = CallAfter(limits_.timeout_us, shared_from_this(),
                                         [timed](Batcher& b) { b.CloseAfterTimeout(timed); });
  if (!started.ok()) CloseAfterTimeout(timed);
}

absl::Status Batcher::CheckTensors(const KernelContext& c, int64_t* rows) const {
  for (int i = 0; i < (tensors_ < 0 ? c.num_inputs() : tensors_); ++i) {
    const TensorShape& shape = c.input(i).shape();
    SLUICE_INVALID_IF(shape.rank() == 0, "Batching input tensors must have at least one dimension");
    if (i == 0) *rows = shape.dim(0);
    SLUICE_INVALID_IF(shape.dim(0) != *rows,
                      "Batching input tensors supplied in a given op invocation must have equal "
                      "0th-dimension size, got ",
                      *rows, " and ", shape.dim(0));
  }
  SLUICE_INVALID_IF(*rows > limits_.rows, "Task size ", *rows,
                    " is larger than maximum input batch size ", limits_.rows);
  return absl::OkStatus();
}

WaitingCalls Batcher::TakeOpen() {
  ++batch_;
  open_rows_ = 0;
  return std::exchange(open_, {});
}

void Batcher::CloseAfterTimeout(int64_t batch) {
  auto calls = std::make_shared<WaitingCalls>();
  {
    ScopedLock lock(&mutex_);
    if (batch_ != batch) return;
    *calls = TakeOpen();
  }
  if (calls->empty()) return;
  auto finish = [self = shared_from_this(), calls] { self->Finish(std::move(*calls)); };
  const auto* schedule = calls->back()->context->step().schedule;
  if (schedule == nullptr) return finish();
  // Calls a copy, because the original belongs to the step, and `finish` may end the step on
  // another thread before the call returns.
  const auto copy = *schedule;
  copy(std::move(finish));
}

void Batcher::Cancel(int64_t id) {
  std::unique_ptr<WaitingCall> call;
  {
    ScopedLock lock(&mutex_);
    const auto at = std::find_if(open_.begin(), open_.end(),
                                 [id](const auto& waiting) { return waiting->id == id; });
    if (at == open_.end()) return;
    call = std::move(*at);
    open_.erase(at);
    open_rows_ -= call->rows;
    if (open_.empty()) ++batch_;
  }
  call->Finish(Cancelled());
}

void Batcher::Finish(WaitingCalls calls) const {
  if (!calls.empty()) finish_(std::move(calls), limits_);
}

absl::StatusOr<Tensors> JoinInputs(const WaitingCalls& calls, int tensors,
                                   const BatchLimits& limits) {
  int64_t rows = 0;
  for (const auto& call : calls) {
    rows += call->rows;
    SLUICE_INVALID_IF(call->context->num_inputs() < tensors, "expected ", tensors,
                      " tensors of each step, got ", call->context->num_inputs());
  }
  const auto size = std::lower_bound(limits.sizes.begin(), limits.sizes.end(), rows);
  const int64_t padding = size == limits.sizes.end() ? 0 : *size - rows;
  SLUICE_INVALID_IF(padding > 0 && calls[0]->rows == 0,
                    "Cannot use an empty tensor with zero rows as padding when batching.");
  Tensors joined;
  for (int i = 0; i < tensors; ++i) {
    std::vector<const Tensor*> parts;
    for (const auto& call : calls) parts.push_back(&call->context->input(i));
    SLUICE_ASSIGN_OR_RETURN(Tensor all,
                            Joined(*calls.back()->context->step().allocator, parts, padding));
    joined.push_back(std::move(all));
  }
  return joined;
}

void GiveToLast(WaitingCalls calls, const BatchLimits& limits) {
  const absl::Status given = [&]() -> absl::Status {
    KernelContext& last = *calls.back()->context;
    const int tensors = last.num_inputs();
    for (const auto& call : calls) {
      const int found = call->context->num_inputs();
      SLUICE_INVALID_IF(found != tensors, "expected as many tensors of each step, got ", found,
                        " and ", tensors);
    }
    SLUICE_ASSIGN_OR_RETURN(Tensors joined, JoinInputs(calls, tensors, limits));
    for (int i = 0; i < tensors; ++i) last.set_output(i, std::move(joined[i]));
    const auto steps = static_cast<int64_t>(calls.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor * index, last.AllocateOutput(tensors, {steps, 3}));
    int64_t first = 0;
    for (int64_t k = 0; k < steps; ++k) {
      int64_t* to = index->data<int64_t>() + 3 * k;
      to[0] = calls[k]->id;
      to[1] = first;
      to[2] = first += calls[k]->rows;
      KernelContext& c = *calls[k]->context;
      SLUICE_ASSIGN_OR_RETURN(Tensor * id, c.AllocateOutput(tensors + 1, {}));
      *id->data<int64_t>() = calls[k]->id;
      if (&c == &last) continue;
      for (int i = 0; i < tensors; ++i) {
        TensorShape none = c.input(i).shape();
        none.set_dim(0, 0);
        SLUICE_RETURN_IF_ERROR(c.AllocateOutput(i, none).status());
      }
      SLUICE_RETURN_IF_ERROR(c.AllocateOutput(tensors, {0, 3}).status());
    }
    return absl::OkStatus();
  }();
  for (const auto& call : calls) call->Finish(given);
}

std::string Batcher::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("batch '", name_, "': ", open_rows_, " of ", limits_.rows, " rows");
}

void Unbatcher::Add(KernelContext& c, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> id = IdOf(c, 2, "Input id should be scalar; Got: ");
  if (!id.ok()) return done(id.status());
  absl::StatusOr<std::map<int64_t, Tensor>> parts = PartsOf(c);
  if (!parts.ok()) return done(parts.status());
  std::vector<int64_t> keys;
  for (const auto& [key, part] : *parts) keys.push_back(key);
  auto call =
      std::make_unique<WaitingCall>(WaitingCall{.id = *id, .context = &c, .done = std::move(done)});
  WaitingCalls ended;
  absl::Status status = Exchange(call, *std::move(parts), &ended);
  for (const auto& e : ended) e->Finish(absl::OkStatus());
  if (call != nullptr) return call->Finish(std::move(status));
  if (!status.ok()) return EndWait(*id, status);
  // After the timeout, discards parts whose steps never arrive, and ends the wait of this step.
  for (const int64_t key : keys) {
    CallAfter(timeout_us_, shared_from_this(), [key](Unbatcher& u) {
      u.Forget(key);
    }).IgnoreError();
  }
  CallAfter(timeout_us_, shared_from_this(), [id = *id](Unbatcher& u) {
    u.EndWait(id,
              absl::DeadlineExceededError("Batched data did not arrive within timeout window."));
  }).IgnoreError();
}

// If the call need not wait, leaves it in `call`, so that the caller finishes it.
absl::Status Unbatcher::Exchange(std::unique_ptr<WaitingCall>& call,
                                 std::map<int64_t, Tensor> parts, WaitingCalls* ended) {
  ScopedLock lock(&mutex_);
  const int64_t id = call->id;
  if (const auto ready = parts_.find(id); ready != parts_.end()) {
    call->context->set_output(0, std::move(ready->second));
    parts_.erase(ready);
    return absl::OkStatus();
  }
  if (calls_.contains(id)) {
    return absl::AlreadyExistsError("Multiple session runs with the same batch key.");
  }
  const auto cancel = [weak = weak_from_this(), id] {
    if (auto self = weak.lock()) self->EndWait(id, Cancelled());
  };
  if (!call->StartWait(StrCat("rows of batch '", name_, "'"), cancel,
                       [] { return std::string("its batch has no result yet"); })) {
    return Cancelled();
  }
  calls_.emplace(id, std::move(call));
  for (auto& [key, part] : parts) {
    const auto waiting = calls_.find(key);
    if (waiting != calls_.end()) {
      waiting->second->context->set_output(0, std::move(part));
      ended->push_back(std::move(waiting->second));
      calls_.erase(waiting);
    } else if (!parts_.emplace(key, std::move(part)).second) {
      return absl::AlreadyExistsError("Multiple tensors returned for same batch key.");
    }
  }
  return absl::OkStatus();
}

void Unbatcher::EndWait(int64_t id, const absl::Status& why) {
  std::unique_ptr<WaitingCall> call;
  {
    ScopedLock lock(&mutex_);
    const auto at = calls_.find(id);
    if (at == calls_.end()) return;
    call = std::move(at->second);
    calls_.erase(at);
  }
  call->Finish(why);
}

void Unbatcher::Forget(int64_t id) {
  ScopedLock lock(&mutex_);
  parts_.erase(id);
}

std::string Unbatcher::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("rows of batch '", name_, "': ", calls_.size(), " steps wait, ", parts_.size(),
                " parts");
}

void GradBatcher::Add(KernelContext& c, AsyncKernel::Done done) {
  const Tensor &batch = c.input(0), &index = c.input(1), &gradient = c.input(2);
  const absl::StatusOr<int64_t> id = IdOf(c, 3, "Expected `id` to be scalar. Received ");
  if (!id.ok()) return done(id.status());
  const bool has_batch = batch.num_elements() > 0;
  if (has_batch && index.num_elements() == 0) {
    return done(InvalidArgument("UnbatchGrad node '", c.name(),
                                "': batch_index is empty while the tensor isn't."));
  }
  if (has_batch) {
    if (const absl::Status status = CheckIndex(c, index); !status.ok()) return done(status);
  }
  if (gradient.rank() == 0) {
    return done(InvalidArgument("UnbatchGrad node '", c.name(),
                                "': expected grad with at least one dimension, got a scalar"));
  }
  auto call =
      std::make_unique<WaitingCall>(WaitingCall{.id = *id, .context = &c, .done = std::move(done)});
  absl::Status failed;
  std::unique_ptr<WaitingCall> ready;
  Tensors gradients;
  {
    ScopedLock lock(&mutex_);
    const auto cancel = [weak = weak_from_this(), id = *id] {
      if (auto self = weak.lock()) self->EndWait(id, Cancelled());
    };
    // A call may wait without its gradient: that of another batch may have taken it.
    if (calls_.contains(*id) || !gradients_.emplace(*id, gradient).second) {
      failed = InvalidArgument("Two runs with the same batch key.");
    } else if (has_batch &&
               !call->StartWait(StrCat("gradients of batch '", name_, "'"), cancel, [] {
                 return std::string("some steps of the batch have no gradient yet");
               })) {
      gradients_.erase(*id);
      failed = Cancelled();
    } else if (has_batch) {
      calls_.emplace(*id, std::move(call));
    }
    ready = TakeReady(&gradients);
  }
  if (call != nullptr && failed.ok()) {
    TensorShape none = gradient.shape();
    none.set_dim(0, 0);
    failed = c.AllocateOutput(0, none).status();
  }
  if (call != nullptr) call->Finish(failed);
  if (ready == nullptr) return;
  std::vector<const Tensor*> parts;
  for (const Tensor& g : gradients) parts.push_back(&g);
  absl::StatusOr<Tensor> joined = Joined(*ready->context->step().allocator, parts, 0);
  if (joined.ok()) ready->context->set_output(0, *std::move(joined));
  ready->Finish(joined.status());
}

std::unique_ptr<WaitingCall> GradBatcher::TakeReady(Tensors* gradients) {
  for (auto& [id, call] : calls_) {
    const Tensor& index = call->context->input(1);
    const int64_t* row = index.data<int64_t>();
    bool has_all = true;
    for (int64_t k = 0; k < index.dim(0); ++k) has_all &= gradients_.contains(row[3 * k]);
    if (!has_all) continue;
    for (int64_t k = 0; k < index.dim(0); ++k) gradients->push_back(gradients_[row[3 * k]]);
    for (int64_t k = 0; k < index.dim(0); ++k) gradients_.erase(row[3 * k]);
    std::unique_ptr<WaitingCall> ready = std::move(call);
    calls_.erase(id);
    return ready;
  }
  return nullptr;
}

void GradBatcher::EndWait(int64_t id, const absl::Status& why) {
  std::unique_ptr<WaitingCall> call;
  {
    ScopedLock lock(&mutex_);
    const auto at = calls_.find(id);
    if (at == calls_.end()) return;
    call = std::move(at->second);
    calls_.erase(at);
    gradients_.erase(id);
  }
  call->Finish(why);
}

std::string GradBatcher::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("gradients of batch '", name_, "': ", calls_.size(), " steps wait, ",
                gradients_.size(), " gradients");
}

}  // namespace sluice
