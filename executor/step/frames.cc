// Loops that run dynamically: values enter a frame, go round, and leave it.
//
// The rules are those of TensorFlow's executor: an iteration ends when nothing in it is running or
// ready, it holds no child frame, and the iteration before has ended (the first: when all Enters
// have arrived); a frame ends with its last iteration, and only then are dead Exits passed on.
#include <algorithm>
#include <utility>

#include "executor/plan/frame_id.h"
#include "executor/plan/layout.h"
#include "executor/step/frame_instance.h"
#include "executor/step/node_values.h"
#include "executor/step/step.h"

namespace sluice {

// The first live input is stored and, once the control inputs are in, makes the Merge ready; so
// does the last dead one, or a dead Enter. Exactly one arrival finds that it made the word ready.
void Step::MergeArrives(Iteration& it, const Unit& from, const UnitEdge& edge, Worker& worker,
                        int* ready) {
  std::atomic<uint64_t>& word = it.pending[edge.unit];
  uint64_t before, after;
  if (edge.kind == UnitEdge::kMergeControl) {
    before = word.fetch_sub(merge_word::kControl, std::memory_order_acq_rel);
    after = before - merge_word::kControl;
  } else {
    const PlanNode& merge = it.body->nodes[it.body->units[edge.unit].first_node];
    const size_t input = merge.first_input + edge.merge_input;
    Value& value = *it.inputs[input];
    const bool is_slot = it.body->inputs[input].base == ValueRef::kSlot;
    if (value.is_dead) {
      const PlanNode& source = it.body->nodes[from.first_node];
      const bool is_enter = from.kind == Unit::Kind::kArrival && IsEnter(*source.node);
      before = is_enter ? word.fetch_or(merge_word::kForcedDead, std::memory_order_acq_rel)
                        : word.fetch_sub(merge_word::kCandidate, std::memory_order_acq_rel);
      after = is_enter ? before | merge_word::kForcedDead : before - merge_word::kCandidate;
    } else {
      const uint64_t taken = merge_word::kClaimed | merge_word::kLive | merge_word::kForcedDead;
      if ((word.fetch_or(merge_word::kClaimed, std::memory_order_acq_rel) & taken) != 0) {
        if (is_slot) value.tensor.Clear();
        return;
      }
      Value& output = it.slots[merge.first_output];
      if (is_slot) {
        output = std::move(value);
      } else {
        output = value;
      }
      it.merge_taken[edge.unit] = static_cast<int32_t>(edge.merge_input);
      before = word.fetch_or(merge_word::kLive, std::memory_order_acq_rel);
      after = before | merge_word::kLive;
    }
  }
  if (merge_word::IsReady(before) || !merge_word::IsReady(after)) return;
  worker.ready.emplace_back(&it, edge.unit);
  ++*ready;
}

void Step::RunMergeUnit(Iteration& it, const Unit& unit, Worker& worker) {
  const PlanNode& node = it.body->nodes[unit.first_node];
  const uint64_t word = it.pending[&unit - it.body->units.data()].load(std::memory_order_acquire);
  Value* outputs = it.slots.data() + node.first_output;
  const bool is_dead = (word & merge_word::kLive) == 0;
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = is_dead;
  for (int i = 0; i < node.num_outputs; ++i) outputs[i].is_dead = is_dead;
  if (!is_dead) {
    int taken = it.merge_taken[&unit - it.body->units.data()];
    if ((word & merge_word::kClaimed) == 0) {  // a constant, which is there from the start
      taken = 0;
      while (it.body->inputs[node.first_input + taken].base == ValueRef::kSlot) ++taken;
      outputs[0] = *it.inputs[node.first_input + taken];
    }
    const absl::Status status = SetMergeIndex(node, taken, outputs);
    if (!status.ok()) {
      Fail(node, status);
      Ended(it, 0, worker);
      return;
    }
  }
  Release(it, node);
  Complete(it, unit, worker);
}

// What an Enter, Exit or NextIteration passes comes to an iteration.
void Step::Arrive(Iteration& it, uint32_t unit_index, Value value, Worker& worker) {
  const Unit& unit = it.body->units[unit_index];
  const PlanNode& node = it.body->nodes[unit.first_node];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = value.is_dead;
  it.slots[node.first_output] = std::move(value);
  Release(it, node);
  const int ready = Signal(it, unit, worker);
  it.outstanding += ready;
  CountActive(ready, worker);
}

void Step::InvariantArrives(Iteration& it, uint32_t unit_index, Worker& worker) {
  const Unit& unit = it.body->units[unit_index];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = it.frame->invariants[unit.invariant].is_dead;
  const int ready = Signal(it, unit, worker);
  it.outstanding += ready;
  CountActive(ready, worker);
}

FrameInstance* Step::ChildFrame(Iteration& it, const Body& body) {
  for (const auto& [child_body, frame] : it.children) {
    if (child_body == &body) return frame;
  }
  auto& spare = spare_frames_[static_cast<size_t>(&body - plan_->bodies.data())];
  if (spare.empty()) spare.push_back(std::make_unique<FrameInstance>());
  FrameInstance* frame = spare.back().get();
  frames_.push_back(std::move(spare.back()));
  spare.pop_back();
  frame->body = &body;
  frame->parent = &it;
  frame->id = FrameId(it.frame_id, it.number, body.frame_name_hash);
  frame->pending_enters = body.num_enters;
  frame->newest = -1;
  // Its iterations point to the values: their number never changes.
  frame->invariants.resize(body.num_invariants);
  frame->invariant_is_there.assign(body.num_invariants, false);
  it.children.emplace_back(&body, frame);
  ++it.outstanding;
  return frame;
}

Iteration* Step::StartIteration(FrameInstance& frame, Worker& worker) {
  std::unique_ptr<Iteration> it;
  if (frame.spare.empty()) {
    it = std::make_unique<Iteration>(this, *plan_, *frame.body, feeds_.data(),
                                     frame.invariants.data());
  } else {
    it = std::move(frame.spare.back());
    frame.spare.pop_back();
  }
  it->frame = &frame;
  it->frame_id = frame.id;
  it->number = ++frame.newest;
  it->ResetPending();
  Iteration* started = it.get();
  frame.open.push_back(std::move(it));
  frame.dead_exits.clear();
  for (uint32_t u : frame.body->roots) {
    worker.ready.emplace_back(started, u);
    ++started->outstanding;
    CountActive(1, worker);
  }
  for (size_t i = 0; i < frame.invariants.size(); ++i) {
    if (frame.invariant_is_there[i]) {
      InvariantArrives(*started, frame.body->invariant_units[i], worker);
    }
  }
  return started;
}

void Step::Enter(Iteration& it, const PlanNode& node, Value value, Worker& worker) {
  const ArrivalPoint& point = plan_->arrivals[node.aux];
  const Body& body = plan_->bodies[point.body];
  std::lock_guard<std::mutex> lock(frames_mutex_);
  FrameInstance* frame = ChildFrame(it, body);
  if (frame->newest < 0) StartIteration(*frame, worker);
  const int32_t invariant = body.units[point.unit].invariant;
  if (invariant < 0) {
    if (frame->Find(0) == nullptr) return;  // the step has failed
    Arrive(*frame->Find(0), point.unit, std::move(value), worker);
  } else {
    frame->invariants[invariant] = std::move(value);
    frame->invariant_is_there[invariant] = true;
    for (const auto& iteration : frame->open) InvariantArrives(*iteration, point.unit, worker);
  }
  if (--frame->pending_enters > 0 || frame->open.empty()) return;
  Iteration* oldest = frame->open.front().get();
  if (oldest->outstanding == 0) IterationEnded(*oldest, worker);
}

void Step::Exit(Iteration& it, const PlanNode& node, Value value, Worker& worker) {
  std::lock_guard<std::mutex> lock(frames_mutex_);
  FrameInstance& frame = *it.frame;
  if (value.is_dead) {
    // It may be alive in a later iteration; if there is none, the frame's end passes it on.
    if (it.number == frame.newest) frame.dead_exits.push_back(node.aux);
  } else {
    Arrive(*frame.parent, frame.body->exits[node.aux], std::move(value), worker);
  }
}

void Step::NextIteration(Iteration& it, const PlanNode& node, Value value, Worker& worker) {
  const uint32_t unit = plan_->arrivals[node.aux].unit;
  std::lock_guard<std::mutex> lock(frames_mutex_);
  FrameInstance& frame = *it.frame;
  if (it.number == frame.newest) {
    if (static_cast<int>(frame.open.size()) >= frame.body->parallel_iterations) {
      frame.deferred.push_back({unit, std::move(value)});
      return;
    }
    StartIteration(frame, worker);
  }
  Arrive(*frame.Find(it.number + 1), unit, std::move(value), worker);
}

// Nothing in `it` runs or is ready: it ends, and others that waited for that, in order.
void Step::IterationEnded(Iteration& it, Worker& worker) {
  FrameInstance* frame = it.frame;
  while (!frame->open.empty()) {
    Iteration& oldest = *frame->open.front();
    if (oldest.outstanding != 0) return;
    if (frame->pending_enters > 0 && !HasFailed()) return;
    oldest.Clear();
    frame->spare.push_back(std::move(frame->open.front()));
    frame->open.erase(frame->open.begin());
    if (frame->deferred.empty() || HasFailed()) continue;
    std::swap(frame->deferred, frame->released);
    Iteration* next = StartIteration(*frame, worker);
    for (FrameInstance::Deferred& d : frame->released) {
      Arrive(*next, d.unit, std::move(d.value), worker);
    }
    frame->released.clear();
  }
  FrameEnded(frame, worker);
}

void Step::FrameEnded(FrameInstance* frame, Worker& worker) {
  Iteration& parent = *frame->parent;
  if (!HasFailed()) {
    for (uint32_t exit : frame->dead_exits) {
      Value dead;
      dead.is_dead = true;
      Arrive(parent, frame->body->exits[exit], std::move(dead), worker);
    }
  }
  std::erase_if(parent.children, [&](const auto& child) { return child.second == frame; });
  for (Value& invariant : frame->invariants) invariant = Value();
  frame->dead_exits.clear();
  frame->deferred.clear();
  auto own =
      std::find_if(frames_.begin(), frames_.end(), [&](const auto& f) { return f.get() == frame; });
  // Kept for the next entry, with the memory of its iterations.
  spare_frames_[static_cast<size_t>(frame->body - plan_->bodies.data())].push_back(std::move(*own));
  frames_.erase(own);
  if (--parent.outstanding == 0 && parent.frame != nullptr) IterationEnded(parent, worker);
}

void Step::DropFrames() {
  std::lock_guard<std::mutex> lock(frames_mutex_);
  frames_.clear();
}

}  // namespace sluice
