#include <algorithm>
#include <utility>

#include "executor/step/running_step.h"
#include "graph/ir/frame_id.h"

namespace sluice {

DynamicFrames::DynamicFrames(StepState& state, UnitScheduler& scheduler)
    : state_(state), scheduler_(scheduler), spare_frames_(state.plan->bodies.size()) {}

// Stores the value of an Enter, Exit or NextIteration in the iteration that it moves to, and makes
// the units ready that waited for it only.
void DynamicFrames::Arrive(Iteration& it, uint32_t unit_index, Value value, Worker& worker) {
  const Unit& unit = it.body->units[unit_index];
  const PlanNode& node = it.body->nodes[unit.first_node];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = value.is_dead;
  it.slots[node.first_output] = std::move(value);
  it.Release(node);
  ArrivalEnded(it, unit, worker);
}

void DynamicFrames::InvariantArrives(Iteration& it, uint32_t unit_index, Worker& worker) {
  const Unit& unit = it.body->units[unit_index];
  const int32_t flag = it.body->deadness[unit.first_node].flag;
  if (flag >= 0) it.flags[flag] = it.frame->invariants[unit.invariant].is_dead;
  ArrivalEnded(it, unit, worker);
}

void DynamicFrames::ArrivalEnded(Iteration& it, const Unit& unit, Worker& worker) {
  const int ready = scheduler_.SignalSuccessors(it, unit, worker);
  it.outstanding += ready;
  scheduler_.CountActive(ready, worker);
}

FrameInstance* DynamicFrames::ChildFrame(Iteration& it, const Body& body) {
  for (const auto& [child_body, frame] : it.children) {
    if (child_body == &body) return frame;
  }
  auto& spare = spare_frames_[static_cast<size_t>(&body - state_.plan->bodies.data())];
  if (spare.empty()) spare.push_back(std::make_unique<FrameInstance>());
  FrameInstance* frame = spare.back().get();
  frames_.push_back(std::move(spare.back()));
  spare.pop_back();
  frame->body = &body;
  frame->parent = &it;
  frame->id = FrameId(it.frame_id, it.number, body.frame_name_hash);
  frame->pending_enters = body.num_enters;
  frame->newest = -1;
  // Always has this size, because iterations point to the values.
  frame->invariants.resize(body.num_invariants);
  frame->has_invariant.assign(body.num_invariants, false);
  it.children.emplace_back(&body, frame);
  ++it.outstanding;
  return frame;
}

Iteration* DynamicFrames::StartIteration(FrameInstance& frame, Worker& worker) {
  std::unique_ptr<Iteration> it;
  if (frame.spare.empty()) {
    it = std::make_unique<Iteration>(&scheduler_, *state_.plan, *frame.body, state_.feeds.data(),
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
    scheduler_.CountActive(1, worker);
  }
  for (size_t i = 0; i < frame.invariants.size(); ++i) {
    if (frame.has_invariant[i]) {
      InvariantArrives(*started, frame.body->invariant_units[i], worker);
    }
  }
  return started;
}

void DynamicFrames::Enter(Iteration& it, const PlanNode& node, Value value, Worker& worker) {
  const ArrivalPoint& point = state_.plan->arrivals[node.aux];
  const Body& body = state_.plan->bodies[point.body];
  ScopedLock lock(&mutex_);
  FrameInstance* frame = ChildFrame(it, body);
  if (frame->newest < 0) StartIteration(*frame, worker);
  const int32_t invariant = body.units[point.unit].invariant;
  if (invariant < 0) {
    if (frame->Find(0) == nullptr) return;  // the step has failed
    Arrive(*frame->Find(0), point.unit, std::move(value), worker);
  } else {
    frame->invariants[invariant] = std::move(value);
    frame->has_invariant[invariant] = true;
    for (const auto& iteration : frame->open) InvariantArrives(*iteration, point.unit, worker);
  }
  if (--frame->pending_enters > 0 || frame->open.empty()) return;
  if (frame->open.front()->outstanding == 0) EndIterations(frame, worker);
}

void DynamicFrames::Exit(Iteration& it, const PlanNode& node, Value value, Worker& worker) {
  ScopedLock lock(&mutex_);
  FrameInstance& frame = *it.frame;
  if (value.is_dead) {
    // The Exit may be alive in a later iteration. If not, the end of the frame propagates its
    // deadness.
    if (it.number == frame.newest) frame.dead_exits.push_back(node.aux);
  } else {
    Arrive(*frame.parent, frame.body->exits[node.aux], std::move(value), worker);
  }
}

void DynamicFrames::NextIteration(Iteration& it, const PlanNode& node, Value value,
                                  Worker& worker) {
  const uint32_t unit = state_.plan->arrivals[node.aux].unit;
  ScopedLock lock(&mutex_);
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

// Under the lock, because the iteration may be reused after its last unit.
void DynamicFrames::UnitEnded(Iteration& it, int more, Worker& worker) {
  ScopedLock lock(&mutex_);
  it.outstanding += more - 1;
  if (it.outstanding == 0) EndIterations(it.frame, worker);
}

// Ends, in order, the iterations in which nothing runs or is ready. Ends the frame after its last
// iteration.
void DynamicFrames::EndIterations(FrameInstance* frame, Worker& worker) {
  while (!frame->open.empty()) {
    Iteration& oldest = *frame->open.front();
    if (oldest.outstanding != 0) return;
    if (frame->pending_enters > 0 && !state_.HasFailed()) return;
    oldest.Clear();
    frame->spare.push_back(std::move(frame->open.front()));
    frame->open.erase(frame->open.begin());
    if (frame->deferred.empty() || state_.HasFailed()) continue;
    std::swap(frame->deferred, frame->released);
    Iteration* next = StartIteration(*frame, worker);
    for (FrameInstance::Deferred& d : frame->released) {
      Arrive(*next, d.unit, std::move(d.value), worker);
    }
    frame->released.clear();
  }
  EndFrame(frame, worker);
}

void DynamicFrames::EndFrame(FrameInstance* frame, Worker& worker) {
  Iteration& parent = *frame->parent;
  if (!state_.HasFailed()) {
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
  spare_frames_[static_cast<size_t>(frame->body - state_.plan->bodies.data())].push_back(
      std::move(*own));
  frames_.erase(own);
  if (--parent.outstanding == 0 && parent.frame != nullptr) EndIterations(parent.frame, worker);
}

void DynamicFrames::DropAll() {
  ScopedLock lock(&mutex_);
  frames_.clear();
}

}  // namespace sluice
