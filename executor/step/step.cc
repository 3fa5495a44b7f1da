#include "executor/step/step.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "executor/cpu/steady_time.h"
#include "executor/fusion/fused_elementwise.h"
#include "executor/plan/error_at.h"
#include "executor/step/outbox.h"
#include "executor/step/running_step.h"
#include "executor/wait/cancellable_files.h"
#include "executor/wait/session_scope.h"
#include "executor/wait/stalls.h"
#include "graph/status.h"

namespace sluice {

Step::Step(std::shared_ptr<const Plan> plan, const StepEnvironment& environment)
    : scheduler_(std::make_unique<UnitScheduler>(std::move(plan), environment)) {}
Step::~Step() = default;

absl::Status Step::Run(const StepArguments& arguments) { return scheduler_->Run(arguments); }
Tensor& Step::fetch(int i) { return scheduler_->state().fetches[i].tensor; }
void Step::Cancel(const absl::Status& status) { scheduler_->state().Cancel(status); }
void Step::ForgetCancellation() {
  if (scheduler_->state().HasFailed()) scheduler_->state().TakeError().IgnoreError();
}

StepState::StepState(std::shared_ptr<const Plan> the_plan, const StepEnvironment& environment)
    : plan(std::move(the_plan)),
      environment(environment),
      feeds(plan->num_feeds),
      fetches(plan->num_fetches) {
  schedule_ = [pool = environment.inter_op](std::function<void()> closure) {
    if (pool == nullptr) return closure();
    const int64_t session = SessionScope::Current();
    if (session == 0) return pool->Schedule(std::move(closure));
    pool->Schedule([session, closure = std::move(closure)] {
      const SessionScope scope(session);
      closure();
    });
  };
  for (ResourceManager* resources : environment.resources) {
    StepContext context;
    context.allocator = environment.allocator;
    context.intra_op = environment.intra_op;
    context.resources = resources;
    context.step_resources = &step_resources_;
    context.cancellation = &cancellation;
    context.stalls = environment.stalls;
    context.schedule = &schedule_;
    contexts.push_back(context);
  }
}

void StepState::Start(const StepArguments& arguments) {
  step_id = arguments.step_id;
  // Most steps have no rendezvous. They skip the atomic store, which takes longer than the rest of
  // this function.
  if (arguments.rendezvous != nullptr) rendezvous_.store(arguments.rendezvous);
  for (StepContext& context : contexts) {
    context.step_id = step_id;
    context.rendezvous = arguments.rendezvous;
  }
  observer = arguments.observer;
  cancellation.set_deadline(arguments.deadline);
  needs_care = observer != nullptr || HasDeadline();
  for (size_t i = 0; i < feeds.size(); ++i) feeds[i].tensor = *arguments.feeds[i];
  for (Value& fetch : fetches) fetch.is_dead = false;
}

void StepState::Finish() {
  // The caller may destroy the rendezvous after Run, while other threads still call Cancel.
  if (rendezvous_.load(std::memory_order_relaxed) != nullptr) {
    ScopedLock lock(&mutex_);
    rendezvous_.store(nullptr);
    while (aborting_ != 0) not_aborting_.Wait(&mutex_);
  }
  for (Value& feed : feeds) feed.tensor.Clear();
  step_resources_.ClearAll();
}

absl::Status StepState::TakeError() {
  cancellation.Reset();
  ScopedLock lock(&mutex_);
  failed_devices_.clear();
  return std::exchange(errors_, {}).Summary();
}

void StepState::Fail(const PlanNode& node, const absl::Status& status) {
  // The kernel may have asked IsWanted after the deadline.
  if (absl::IsCancelled(status) && !HasFailed() && IsOverdue()) TimeOut();
  const Node* member =
      node.kind == OpKind::kFused ? plan->fused[node.aux]->NodeOf(status) : nullptr;
  if (member == nullptr) return Cancel(ErrorAt(*node.node, status), node.device);
  absl::Status cause = status;
  cause.ErasePayload(FusedElementwise::kMemberPayload);
  Cancel(ErrorAt(*member, cause), node.device);
}

// The first root error of each device counts, as in TensorFlow, where each device has an executor.
// After an error that no node caused, such as a deadline, all errors are derived.
void StepState::AddError(const absl::Status& status, int device) {
  const bool is_consequence =
      !failed_devices_.empty() && (device == kNoDevice || failed_devices_[0] == kNoDevice ||
                                   absl::IsCancelled(status) || absl::IsAborted(status));
  if (is_consequence || IsDerived(status)) return errors_.Add(DerivedError(status));
  if (absl::c_linear_search(failed_devices_, device)) return;
  failed_devices_.push_back(device);
  errors_.Add(status);
}

void StepState::Cancel(const absl::Status& status, int device) {
  Rendezvous* rendezvous;
  {
    ScopedLock lock(&mutex_);
    AddError(status, device);
    rendezvous = rendezvous_.load();
    if (rendezvous != nullptr) ++aborting_;
  }
  if (rendezvous != nullptr) {
    rendezvous->StartAbort(DerivedError(status));
    ScopedLock lock(&mutex_);
    if (--aborting_ == 0) not_aborting_.NotifyAll();
  }
  cancellation.StartCancel();
}

void StepState::TimeOut() {
  std::string message = "Timed out waiting for notification";
  if (environment.stalls != nullptr) {
    const std::string waits = environment.stalls->ToString(step_id);
    if (!waits.empty()) StrAppend(&message, "; step ", step_id, ":\n", waits);
  }
  Cancel(absl::DeadlineExceededError(message));
}

void StepState::UseIntraOp(bool use) {
  for (StepContext& context : contexts) {
    context.intra_op = use ? environment.intra_op : nullptr;
  }
}

// --- scheduling

UnitScheduler::UnitScheduler(std::shared_ptr<const Plan> plan, const StepEnvironment& environment)
    : state_(std::move(plan), environment),
      frames_(state_, *this),
      nodes_(state_, frames_),
      root_(this, *state_.plan, state_.plan->bodies[0], state_.feeds.data(), nullptr),
      sharing_(environment.intra_op == nullptr ? 0 : environment.intra_op->num_threads()) {
  caller_.is_caller = true;
}

UnitScheduler::~UnitScheduler() {
  ScopedLock lock(&mutex_);
  while (helpers_ != 0) idle_.Wait(&mutex_);
}

// --- a step from its start to its end

absl::Status UnitScheduler::Run(const StepArguments& arguments) noexcept {
  caller_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  has_warned_ = false;
  state_.Start(arguments);
  const CancellableFiles files(state_.cancellation);
  const Body& root = state_.plan->bodies[0];
  // A dynamic loop whose results no node of the root reads has no unit in the root.
  const bool has_frames = !state_.plan->arrivals.empty();
  if (root.units.size() == 1 && root.units[0].kind == Unit::Kind::kSegment && !has_frames) {
    RunOnlySegment();
  } else if (!root.units.empty()) {
    RunUnits();
  }
  return Finish();
}

void UnitScheduler::RunOnlySegment() {
  // Traced steps and steps with a deadline take no part in trials.
  const bool is_tried =
      state_.environment.may_leave_intra_op && !state_.needs_care && sharing_.Begins();
  if (is_tried) state_.UseIntraOp(sharing_.shares());
  const int64_t start = is_tried ? SteadyNowNs() : 0;
  caller_.has_only_segment = true;
  RunSegment(root_, root_.body->units[0], 0, caller_);
  caller_.has_only_segment = false;
  if (!is_tried) return;
  if (state_.HasFailed()) {
    sharing_.Failed();
  } else {
    sharing_.Took(SteadyNowNs() - start);
  }
  state_.UseIntraOp(sharing_.usually_shares());
}

void UnitScheduler::RunUnits() {
  const Body& root = *root_.body;
  ended_.store(false, std::memory_order_relaxed);
  root_.ResetPending();
  active_.store(static_cast<int64_t>(root.roots.size()), std::memory_order_relaxed);
  // Asynchronous units are last and so run first: the peers that they wait for can then go on.
  for (const bool async : {false, true}) {
    for (uint32_t u : root.roots) {
      const bool is_async = root.units[u].kind == Unit::Kind::kAsync;
      if (is_async == async) caller_.ready.emplace_back(&root_, u);
    }
  }
  const Outbox outbox;
  do {
    RunReady(caller_);
    Outbox::Flush();
  } while (WaitForWork());
}

absl::Status UnitScheduler::Finish() {
  state_.Finish();
  for (uint32_t slot : root_.body->handles) root_.slots[slot].tensor.Clear();
  if (state_.HasFailed()) [[unlikely]] {
    frames_.DropAll();
    DropValues();
    return state_.TakeError();
  }
  for (size_t i = 0; i < state_.fetches.size(); ++i) {
    if (state_.fetches[i].is_dead) {
      DropValues();
      return InvalidArgument("Retval[", i, "] does not have value");
    }
  }
  return absl::OkStatus();
}

void UnitScheduler::DropValues() {
  root_.Clear();
  for (Value& fetch : state_.fetches) fetch.tensor.Clear();
}

// --- one unit

void UnitScheduler::RunReady(Worker& worker) {
  while (!worker.ready.empty() || TakeShared(worker)) {
    const ReadyUnit next = worker.ready.back();
    worker.ready.pop_back();
    RunUnit(next, worker);
  }
}

void UnitScheduler::RunUnit(const ReadyUnit& next, Worker& worker) {
  Iteration& it = *next.iteration;
  const Unit& unit = it.body->units[next.unit];
  switch (RunByKind(it, unit, next, worker)) {
    case Outcome::kDone:
      return UnitEnded(it, SignalSuccessors(it, unit, worker), worker);
    case Outcome::kFailed:
      return UnitEnded(it, 0, worker);
    case Outcome::kClaimTaken:
      return ResumeWhenFree({&it, next.unit, 0, worker.stopped_at - unit.first_node}, worker);
    case Outcome::kPending:
      return;
  }
}

Outcome UnitScheduler::RunByKind(Iteration& it, const Unit& unit, const ReadyUnit& next,
                                 Worker& worker) {
  if (next.has_ended) return nodes_.EndAsync(it, unit);
  if (state_.HasFailed()) return Outcome::kFailed;
  switch (unit.kind) {
    case Unit::Kind::kAsync:
      return nodes_.StartAsync(it, unit, worker);
    case Unit::Kind::kMerge:
      return nodes_.RunMergeUnit(it, unit);
    default:  // an arrival is never ready
      return RunSegment(it, unit, next.first, worker);
  }
}

// While a segment computes, messages are sent at once and other steps go on in other threads, so
// that they need not wait for it.
Outcome UnitScheduler::RunSegment(Iteration& it, const Unit& segment, uint32_t first,
                                  Worker& worker) {
  if (segment.only_sends) return nodes_.RunSegment(it, segment, first, worker);
  const Outbox::Closed no_outbox;
  const ContinuationScope::Closed no_continuations;
  return nodes_.RunSegment(it, segment, first, worker);
}

// Shares a unit when a claim is released.
class UnitScheduler::ClaimWaiter final : public Claim::Waiter {
 public:
  ClaimWaiter(UnitScheduler* scheduler, const ReadyUnit& from)
      : scheduler_(scheduler), from_(from) {}
  void OnFree() override {
    scheduler_->Share(from_);
    delete this;
  }

 private:
  UnitScheduler* const scheduler_;
  const ReadyUnit from_;
};

void UnitScheduler::ResumeWhenFree(const ReadyUnit& from, Worker& worker) {
  const std::shared_ptr<Claim> claim = std::exchange(worker.awaited, nullptr);
  auto waiter = std::make_unique<ClaimWaiter>(this, from);
  if (claim->Await(waiter.get())) {
    waiter.release();
  } else {  // the claim is free by now
    worker.ready.push_back(from);
  }
}

// --- what follows a unit

int UnitScheduler::SignalSuccessors(Iteration& it, const Unit& unit, Worker& worker) {
  const Body& body = *it.body;
  for (uint32_t c = 0; c < unit.num_copies; ++c) {
    const SlotCopy& copy = body.copies[unit.first_copy + c];
    it.slots[copy.to] = it.slots[copy.from];
  }
  int ready = 0;
  for (uint32_t e = 0; e < unit.num_edges; ++e) {
    const UnitEdge& edge = body.edges[unit.first_edge + e];
    switch (edge.kind) {
      case UnitEdge::kPlain:
        if (it.pending[edge.unit].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        break;
      case UnitEdge::kOnly:
        break;
      case UnitEdge::kMergeControl:
      case UnitEdge::kMergeData:
        if (!it.MergeInputArrives(unit, edge)) continue;
        break;
    }
    worker.ready.emplace_back(&it, edge.unit);
    ++ready;
  }
  return ready;
}

// A unit has ended and made `more` units of its iteration ready.
void UnitScheduler::UnitEnded(Iteration& it, int more, Worker& worker) {
  if (it.frame != nullptr) frames_.UnitEnded(it, more, worker);
  CountActive(more - 1, worker);
}

void UnitScheduler::CountActive(int change, const Worker& worker) {
  if (change == 0) return;
  if (active_.fetch_add(change, std::memory_order_acq_rel) + change != 0) return;
  if (worker.is_caller) {
    ended_.store(true, std::memory_order_relaxed);
    return;
  }
  ScopedLock lock(&mutex_);
  ended_.store(true, std::memory_order_release);
  wake_.NotifyOne();
}

// --- sharing units with other threads

void UnitScheduler::Share(const ReadyUnit& ready) {
  // The whole function holds the lock: after its release the step may end and be destroyed.
  ScopedLock lock(&mutex_);
  shared_.push_back(ready);
  num_shared_.store(static_cast<int>(shared_.size()), std::memory_order_release);
  ContinuationScope* const scope = ContinuationScope::Current();
  // If the thread of Run delivers the answer, it takes shared units without being notified.
  const bool is_caller =
      caller_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  if (scope == nullptr || is_caller || state_.environment.scheduler != nullptr) return HandOver();
  if (scope->Add(&continuation_)) ++helpers_;
}

// Makes sure that a thread will take a shared unit.
void UnitScheduler::HandOver() {
  const StepEnvironment& environment = state_.environment;
  if (caller_waits_) {
    wake_.NotifyOne();
    if (environment.scheduler != nullptr) environment.scheduler->Ready(state_.step_id);
  } else if (environment.inter_op != nullptr && environment.inter_op->num_threads() > 0) {
    ++helpers_;
    environment.inter_op->Schedule([this] { Help(); });
  }
}

void UnitScheduler::InScope::GoOnElsewhere() {
  ScopedLock lock(&scheduler->mutex_);
  for (size_t i = 0; i < scheduler->shared_.size(); ++i) scheduler->HandOver();
  scheduler->HelperEnded();
}

bool UnitScheduler::TakeShared(Worker& worker) {
  if (num_shared_.load(std::memory_order_acquire) == 0) return false;
  ScopedLock lock(&mutex_);
  if (shared_.empty()) return false;
  worker.ready.push_back(shared_.back());
  shared_.pop_back();
  num_shared_.store(static_cast<int>(shared_.size()), std::memory_order_relaxed);
  return true;
}

// Runs on a thread of the pool, or on one that delivered an answer.
void UnitScheduler::Help() {
  {
    const SessionScope scope(state_.environment.session);
    const CancellableFiles files(state_.cancellation);
    Worker worker;
    const Outbox outbox;
    RunReady(worker);
  }
  ScopedLock lock(&mutex_);
  HelperEnded();
}

// After the release of the lock this object may be destroyed.
void UnitScheduler::HelperEnded() {
  if (--helpers_ == 0) idle_.NotifyAll();
}

// --- waiting on the thread of Run

// False when the step has ended.
bool UnitScheduler::WaitForWork() {
  if (HasEnded()) return false;
  ContinuationScope::BeforeWork();
  if (!WaitUntilWoken()) state_.TimeOut();
  return !HasEnded();
}

// Waits for the end of the step or a shared unit. False at the deadline.
bool UnitScheduler::WaitUntilWoken() {
  StepScheduler* const scheduler = state_.environment.scheduler;
  const auto patience = state_.environment.stall_warning;
  const CancellationManager::Time deadline = state_.HasDeadline() && !state_.HasFailed()
                                                 ? state_.cancellation.deadline()
                                                 : CancellationManager::Time::max();
  ScopedLock lock(&mutex_);
  const bool is_scheduled = scheduler != nullptr && shared_.empty();
  if (is_scheduled) scheduler->Blocked(state_.step_id);
  caller_waits_ = true;
  bool is_woken = false;
  if (patience.count() > 0 && !has_warned_) {
    const auto warn_at = std::chrono::steady_clock::now() + patience;
    if (warn_at < deadline) {
      is_woken = WaitUntil(warn_at);
      if (!is_woken) {
        has_warned_ = true;
        lock.Unlock();  // a kernel that the warning describes may be answering
        WarnOfStall();
        lock.Lock();
      }
    }
  }
  if (!is_woken) is_woken = WaitUntil(deadline);
  caller_waits_ = false;
  lock.Unlock();
  if (is_scheduled) scheduler->Resume(state_.step_id);
  return is_woken;
}

// False if nothing has happened by `time`.
bool UnitScheduler::WaitUntil(CancellationManager::Time time) {
  while (!HasEnded() && shared_.empty()) {
    if (time == CancellationManager::Time::max()) {
      wake_.Wait(&mutex_);
    } else if (!wake_.WaitUntil(&mutex_, time)) {
      return HasEnded() || !shared_.empty();
    }
  }
  return true;
}

void UnitScheduler::WarnOfStall() {
  const StepEnvironment& environment = state_.environment;
  std::string waits =
      environment.stalls != nullptr ? environment.stalls->ToString(state_.step_id) : "";
  while (!waits.empty() && waits.back() == '\n') waits.pop_back();
  std::replace(waits.begin(), waits.end(), '\n', ';');
  if (environment.warn) environment.warn(StrCat("step ", state_.step_id, " waits: ", waits));
}

}  // namespace sluice
