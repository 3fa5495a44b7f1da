#include "executor/step/step.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "executor/cpu/steady_time.h"
#include "executor/plan/error_at.h"
#include "executor/plan/fused_elementwise.h"
#include "executor/step/frame_instance.h"
#include "executor/step/outbox.h"
#include "executor/wait/stalls.h"
#include "graph/status.h"

namespace sluice {

Step::Step(std::shared_ptr<const Plan> plan, const StepEnvironment& environment)
    : plan_(std::move(plan)),
      environment_(environment),
      feeds_(plan_->num_feeds),
      fetches_(plan_->num_fetches),
      root_(this, *plan_, plan_->bodies[0], feeds_.data(), nullptr),
      loops_(2 * plan_->loops.size()),
      sharing_(environment.intra_op == nullptr ? 0 : environment.intra_op->num_threads()),
      spare_frames_(plan_->bodies.size()) {
  schedule_ = [this](std::function<void()> closure) {
    if (environment_.inter_op != nullptr) {
      environment_.inter_op->Schedule(std::move(closure));
    } else {
      closure();
    }
  };
  for (ResourceManager* resources : environment_.resources) {
    StepContext context;
    context.allocator = environment_.allocator;
    context.intra_op = environment_.intra_op;
    context.resources = resources;
    context.step_resources = &step_resources_;
    context.cancellation = &cancellation_;
    context.stalls = environment_.stalls;
    context.schedule = &schedule_;
    contexts_.push_back(context);
  }
  caller_.is_caller = true;
}

Step::~Step() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return helpers_ == 0; });
  }
  for (std::atomic<LoopState*>& loop : loops_) delete loop.load();
}

absl::Status Step::Run(const StepArguments& arguments) {
  Start(arguments);
  const Body& root = plan_->bodies[0];
  // A loop whose results nobody here waits for has no unit of its own in the root.
  const bool has_frames = !plan_->arrivals.empty();
  if (root.units.size() == 1 && root.units[0].kind == Unit::Kind::kSegment && !has_frames) {
    RunOnlySegment();
  } else if (!root.units.empty()) {
    RunUnits();
  }
  return Finish();
}

void Step::Start(const StepArguments& arguments) {
  step_id_ = arguments.step_id;
  caller_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  // Most have none, before and after; the store takes longer than the rest of this.
  if (arguments.rendezvous != nullptr) rendezvous_.store(arguments.rendezvous);
  for (StepContext& context : contexts_) {
    context.step_id = step_id_;
    context.rendezvous = arguments.rendezvous;
  }
  observer_ = arguments.observer;
  has_warned_ = false;
  cancellation_.set_deadline(arguments.deadline);
  attention_ = observer_ != nullptr || HasDeadline();
  for (size_t i = 0; i < feeds_.size(); ++i) feeds_[i].tensor = *arguments.feeds[i];
  for (Value& fetch : fetches_) fetch.is_dead = false;
}

void Step::RunOnlySegment() {
  // Not what is traced, nor what has to end in time.
  const bool is_tried = environment_.may_leave_intra_op && !attention_ && sharing_.Begins();
  if (is_tried) UseIntraOp(sharing_.shares());
  const int64_t start = is_tried ? SteadyNowNs() : 0;
  caller_.has_only_this = true;
  RunWhole(root_, plan_->bodies[0].units[0], 0, caller_);
  caller_.has_only_this = false;
  if (!is_tried) return;
  if (HasFailed()) {
    sharing_.Failed();
  } else {
    sharing_.Took(SteadyNowNs() - start);
  }
  UseIntraOp(sharing_.usually_shares());
}

void Step::UseIntraOp(bool use) {
  for (StepContext& context : contexts_) context.intra_op = use ? environment_.intra_op : nullptr;
}

void Step::RunUnits() {
  const Body& root = plan_->bodies[0];
  finished_.store(false, std::memory_order_relaxed);
  root_.ResetPending();
  active_.store(static_cast<int64_t>(root.roots.size()), std::memory_order_relaxed);
  // Asynchronous ones last, hence first to be taken: whoever they wait for can then go on.
  for (const bool async : {false, true}) {
    for (uint32_t u : root.roots) {
      const bool is_async = root.units[u].kind == Unit::Kind::kAsync;
      if (is_async == async) caller_.ready.emplace_back(&root_, u);
    }
  }
  ShareExpensive(0, caller_);
  const Outbox outbox;
  do {
    Work(caller_);
    Outbox::Flush();
  } while (WaitForWork());
}

absl::Status Step::Finish() {
  if (rendezvous_.load(std::memory_order_relaxed) != nullptr) DetachRendezvous();
  for (Value& feed : feeds_) feed.tensor.Clear();
  for (uint32_t slot : plan_->bodies[0].handles) root_.slots[slot].tensor.Clear();
  step_resources_.ClearAll();
  if (HasFailed()) [[unlikely]] {
    DropFrames();
    DropValues();
    cancellation_.Reset();
    std::lock_guard<std::mutex> lock(mutex_);
    absl::Status status = std::exchange(status_, absl::OkStatus());
    const int further = std::exchange(further_errors_, 0);
    if (further == 0) return status;
    return AnnotateAfter(status, StrCat("\n(", further, " more errors followed in this step.)"));
  }
  for (size_t i = 0; i < fetches_.size(); ++i) {
    if (fetches_[i].is_dead) {
      DropValues();
      return InvalidArgument("Retval[", i, "] does not have value");
    }
  }
  return absl::OkStatus();
}

// Once the Run has returned, its rendezvous may go away, and a Cancel may still come.
void Step::DetachRendezvous() {
  std::unique_lock<std::mutex> lock(mutex_);
  rendezvous_.store(nullptr);
  idle_.wait(lock, [this] { return aborting_ == 0; });
}

void Step::ForgetCancellation() {
  if (!HasFailed()) return;
  cancellation_.Reset();
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = absl::OkStatus();
  further_errors_ = 0;
}

void Step::DropValues() {
  root_.Clear();
  for (Value& fetch : fetches_) fetch.tensor.Clear();
}

void Step::Work(Worker& worker) {
  while (!worker.ready.empty() || TakeShared(worker)) {
    const Ready next = worker.ready.back();
    worker.ready.pop_back();
    Process(next, worker);
  }
}

void Step::Process(Ready next, Worker& worker) {
  Iteration& it = *next.iteration;
  const Unit& unit = it.body->units[next.unit];
  if (next.ended) {
    EndAsync(it, unit, worker);
    return;
  }
  if (HasFailed()) {
    Ended(it, 0, worker);
    return;
  }
  switch (unit.kind) {
    case Unit::Kind::kSegment:
      if (RunWhole(it, unit, next.first, worker)) {
        Complete(it, unit, worker);
      } else if (worker.awaited != nullptr) {
        GoOnLater({&it, next.unit, 0, worker.stopped_at - unit.first_node}, worker);
      } else {
        Ended(it, 0, worker);
      }
      break;
    case Unit::Kind::kAsync:
      StartAsync(it, unit, worker);
      break;
    case Unit::Kind::kMerge:
      RunMergeUnit(it, unit, worker);
      break;
    case Unit::Kind::kArrival:  // never ready by itself
      break;
  }
}

bool Step::RunWhole(Iteration& it, const Unit& segment, uint32_t first, Worker& worker) {
  if (segment.only_sends) return RunSegment(it, segment, first, worker);
  // Others need not wait until this has computed.
  const Outbox::Closed no_outbox;
  const ContinuationScope::Closed no_continuations;
  return RunSegment(it, segment, first, worker);
}

class Step::Waiting final : public Claim::Waiter {
 public:
  Waiting(Step* step, const Ready& from) : step_(step), from_(from) {}
  void OnFree() override {
    step_->PushShared(from_);
    delete this;
  }

 private:
  Step* const step_;
  const Ready from_;
};

// When the claim that the worker has met is given back; at once if nobody has it any more.
void Step::GoOnLater(const Ready& from, Worker& worker) {
  const std::shared_ptr<Claim> claim = std::exchange(worker.awaited, nullptr);
  auto waiting = std::make_unique<Waiting>(this, from);
  if (claim->Await(waiting.get())) {
    waiting.release();
  } else {
    worker.ready.push_back(from);
  }
}

void Step::Complete(Iteration& it, const Unit& unit, Worker& worker) {
  const size_t before = worker.ready.size();
  Ended(it, Signal(it, unit, worker), worker);
  // Not earlier: what others may finish has to be counted.
  if (worker.ready.size() > before) ShareExpensive(before, worker);
}

// Hands the unit's values on. The number of units of the iteration that became ready.
int Step::Signal(Iteration& it, const Unit& unit, Worker& worker) {
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
        if (it.pending[edge.unit].fetch_sub(1, std::memory_order_acq_rel) != 1) break;
        [[fallthrough]];
      case UnitEdge::kOnly:
        worker.ready.emplace_back(&it, edge.unit);
        ++ready;
        break;
      case UnitEdge::kMergeControl:
      case UnitEdge::kMergeData:
        MergeArrives(it, unit, edge, worker, &ready);
        break;
    }
  }
  return ready;
}

// A unit has ended, and made `more` others of its iteration ready.
void Step::Ended(Iteration& it, int more, Worker& worker) {
  if (it.frame != nullptr) {
    // Under the lock, because with its last unit the iteration may go away.
    std::lock_guard<std::mutex> lock(frames_mutex_);
    it.outstanding += more - 1;
    if (it.outstanding == 0) IterationEnded(it, worker);
  }
  CountActive(more - 1, worker);
}

void Step::CountActive(int change, const Worker& worker) {
  if (change == 0) return;
  if (active_.fetch_add(change, std::memory_order_acq_rel) + change != 0) return;
  if (worker.is_caller) {
    finished_.store(true, std::memory_order_relaxed);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  finished_.store(true, std::memory_order_release);
  wake_.notify_one();
}

// Leaves one of the units that became ready to this thread, and the cheap ones.
void Step::ShareExpensive(size_t from, Worker& worker) {
  if (environment_.inter_op == nullptr || environment_.inter_op->num_threads() == 0) return;
  for (size_t i = from; i < worker.ready.size() && worker.ready.size() > 1;) {
    const Ready ready = worker.ready[i];
    if (ready.iteration->body->units[ready.unit].is_expensive) {
      worker.ready.erase(worker.ready.begin() + static_cast<int64_t>(i));
      PushShared(ready);
    } else {
      ++i;
    }
  }
}

void Step::PushShared(const Ready& ready) {
  // All under the lock: once it is released, the step may end, and this object with it.
  std::lock_guard<std::mutex> lock(mutex_);
  shared_.push_back(ready);
  num_shared_.store(static_cast<int>(shared_.size()), std::memory_order_release);
  ContinuationScope* const scope = ContinuationScope::Current();
  // The thread of Run, where it is one that brings answers, takes what is shared by itself.
  const bool is_caller =
      caller_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  if (scope == nullptr || is_caller || environment_.scheduler != nullptr) return HandOver();
  if (scope->Add(&continuation_)) ++helpers_;
}

// To a thread that will take what is shared. With mutex_ held.
void Step::HandOver() {
  if (caller_waits_) {
    wake_.notify_one();
    if (environment_.scheduler != nullptr) environment_.scheduler->Ready(step_id_);
  } else if (environment_.inter_op != nullptr && environment_.inter_op->num_threads() > 0) {
    ++helpers_;
    environment_.inter_op->Schedule([this] { Help(); });
  }
}

void Step::InScope::GoOnElsewhere() {
  std::lock_guard<std::mutex> lock(step->mutex_);
  for (size_t i = 0; i < step->shared_.size(); ++i) step->HandOver();
  step->HelperEnded();
}

bool Step::TakeShared(Worker& worker) {
  if (num_shared_.load(std::memory_order_acquire) == 0) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  if (shared_.empty()) return false;
  worker.ready.push_back(shared_.back());
  shared_.pop_back();
  num_shared_.store(static_cast<int>(shared_.size()), std::memory_order_relaxed);
  return true;
}

// In a thread of the pool, or in one that brought an answer.
void Step::Help() {
  {
    Worker worker;
    const Outbox outbox;
    Work(worker);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  HelperEnded();
}

// With mutex_ held: once it is released, this object may be gone.
void Step::HelperEnded() {
  if (--helpers_ == 0) idle_.notify_all();
}

// False when the step has ended.
bool Step::WaitForWork() {
  if (finished_.load(std::memory_order_acquire)) return false;
  ContinuationScope::BeforeWork();
  std::unique_lock<std::mutex> lock(mutex_);
  const bool is_scheduled = environment_.scheduler != nullptr && shared_.empty();
  if (is_scheduled) environment_.scheduler->Blocked(step_id_);
  caller_waits_ = true;
  const bool timed_out = !WaitUntilWoken(lock);
  caller_waits_ = false;
  lock.unlock();
  if (is_scheduled) environment_.scheduler->Resume(step_id_);
  if (timed_out) TimeOut();
  return !finished_.load(std::memory_order_acquire);
}

// False when the time is up.
bool Step::WaitUntilWoken(std::unique_lock<std::mutex>& lock) {
  const auto woken = [this] {
    return finished_.load(std::memory_order_acquire) || !shared_.empty();
  };
  const bool has_limit = HasDeadline() && !HasFailed();
  if (environment_.stall_warning.count() > 0 && !has_warned_) {
    const auto patience = std::chrono::steady_clock::now() + environment_.stall_warning;
    if (!has_limit || patience < cancellation_.deadline()) {
      if (wake_.wait_until(lock, patience, woken)) return true;
      has_warned_ = true;
      lock.unlock();  // whoever is described may just be answering
      WarnOfStall();
      lock.lock();
    }
  }
  if (has_limit) return wake_.wait_until(lock, cancellation_.deadline(), woken);
  wake_.wait(lock, woken);
  return true;
}

void Step::Fail(const PlanNode& node, const absl::Status& status) {
  // A kernel that asked whether it is wanted.
  if (absl::IsCancelled(status) && !HasFailed() && IsOverdue()) TimeOut();
  const Node* member =
      node.kind == OpKind::kFused ? plan_->fused[node.aux]->NodeOf(status) : nullptr;
  if (member == nullptr) return Cancel(ErrorAt(*node.node, status));
  absl::Status cause = status;
  cause.ErasePayload(FusedElementwise::kMemberPayload);
  Cancel(ErrorAt(*member, cause));
}

void Step::Cancel(const absl::Status& status) {
  Rendezvous* rendezvous;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) {
      status_ = status;
    } else if (!absl::IsCancelled(status)) {
      ++further_errors_;
    }
    rendezvous = rendezvous_.load();
    if (rendezvous != nullptr) ++aborting_;
  }
  if (rendezvous != nullptr) {
    rendezvous->StartAbort(status);
    std::lock_guard<std::mutex> lock(mutex_);
    if (--aborting_ == 0) idle_.notify_all();
  }
  cancellation_.StartCancel();
}

void Step::WarnOfStall() {
  std::string waits = environment_.stalls != nullptr ? environment_.stalls->ToString(step_id_) : "";
  while (!waits.empty() && waits.back() == '\n') waits.pop_back();
  std::replace(waits.begin(), waits.end(), '\n', ';');
  if (environment_.warn) environment_.warn(StrCat("step ", step_id_, " waits: ", waits));
}

void Step::TimeOut() {
  std::string message = "Timed out waiting for notification";
  if (environment_.stalls != nullptr) {
    const std::string waits = environment_.stalls->ToString(step_id_);
    if (!waits.empty()) StrAppend(&message, "; step ", step_id_, ":\n", waits);
  }
  Cancel(absl::DeadlineExceededError(message));
}

}  // namespace sluice
