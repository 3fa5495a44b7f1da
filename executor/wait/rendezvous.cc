#include "executor/wait/rendezvous.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {

absl::StatusOr<RendezvousKey> RendezvousKey::Parse(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(text), ';');
  const absl::Status invalid = InvalidArgument("Invalid  rendezvous key: ", text);
  if (parts.size() != 5) return invalid;
  const std::vector<std::string> frame = absl::StrSplit(parts[4], ':');
  RendezvousKey key{parts[0], 0, parts[2], parts[3]};
  if (parts[1].size() != 16 || !absl::SimpleHexAtoi(parts[1], &key.src_incarnation) ||
      frame.size() != 2 || !absl::SimpleAtoi(frame[0], &key.frame_id) ||
      !absl::SimpleAtoi(frame[1], &key.iteration)) {
    return invalid;
  }
  return key;
}

std::string RendezvousKey::ToString() const {
  char incarnation[17];
  std::snprintf(incarnation, sizeof(incarnation), "%016llx",
                static_cast<unsigned long long>(src_incarnation));
  return StrCat(src_device, ";", incarnation, ";", dst_device, ";", tensor_name, ";", frame_id, ":",
                iteration);
}

// For each key, either values wait or receivers do.
struct LocalRendezvous::State {
  struct Item {
    Tensor value;
    bool is_dead = false;
  };
  struct Waiter {
    int64_t id;
    CancellationManager* cancellation;
    int64_t token;
    Done done;
  };
  struct Queue {
    std::deque<Item> items;
    std::deque<Waiter> waiters;
  };
  Mutex mutex;
  absl::Status aborted ABSL_GUARDED_BY(mutex);
  std::unordered_map<std::string, Queue> queues ABSL_GUARDED_BY(mutex);
  int64_t next_id ABSL_GUARDED_BY(mutex) = 0;

  // Removes the waiter. Returns false if it was served already.
  bool Take(const std::string& key, int64_t id, Waiter* waiter) {
    ScopedLock lock(&mutex);
    auto it = queues.find(key);
    if (it == queues.end()) return false;
    auto& waiters = it->second.waiters;
    for (auto w = waiters.begin(); w != waiters.end(); ++w) {
      if (w->id != id) continue;
      *waiter = std::move(*w);
      waiters.erase(w);
      if (waiters.empty()) queues.erase(it);
      return true;
    }
    return false;
  }
};

LocalRendezvous::LocalRendezvous() : state_(std::make_shared<State>()) {}
LocalRendezvous::~LocalRendezvous() { StartAbort(absl::CancelledError("Rendezvous deleted")); }

absl::Status LocalRendezvous::Send(const std::string& key, Tensor value, bool is_dead) {
  State::Waiter waiter;
  {
    ScopedLock lock(&state_->mutex);
    if (!state_->aborted.ok()) return state_->aborted;
    State::Queue& queue = state_->queues[key];
    if (queue.waiters.empty()) {
      queue.items.push_back({std::move(value), is_dead});
      return absl::OkStatus();
    }
    waiter = std::move(queue.waiters.front());
    queue.waiters.pop_front();
    if (queue.waiters.empty()) state_->queues.erase(key);
  }
  if (waiter.cancellation != nullptr) waiter.cancellation->TryDeregister(waiter.token);
  waiter.done(absl::OkStatus(), std::move(value), is_dead);
  return absl::OkStatus();
}

void LocalRendezvous::RecvAsync(const std::string& key, CancellationManager* cancellation,
                                Done done) {
  State::Item item;
  {
    ScopedLock lock(&state_->mutex);
    if (!state_->aborted.ok()) {
      const absl::Status status = state_->aborted;
      lock.Unlock();
      done(status, Tensor(), false);
      return;
    }
    State::Queue& queue = state_->queues[key];
    if (queue.items.empty()) {
      const int64_t id = state_->next_id++;
      const int64_t token = cancellation ? cancellation->NewToken() : 0;
      // The callback finds no waiter if a Send served it in the meantime.
      auto cancel = [state = state_, key, id] {
        State::Waiter waiter;
        if (!state->Take(key, id, &waiter)) return;
        waiter.done(absl::CancelledError("RecvAsync is cancelled."), Tensor(), false);
      };
      if (cancellation == nullptr || cancellation->Register(token, std::move(cancel))) {
        queue.waiters.push_back({id, cancellation, token, std::move(done)});
        return;
      }
      if (queue.waiters.empty()) state_->queues.erase(key);
      lock.Unlock();
      done(absl::CancelledError("RecvAsync is cancelled."), Tensor(), false);
      return;
    }
    item = std::move(queue.items.front());
    queue.items.pop_front();
    if (queue.items.empty()) state_->queues.erase(key);
  }
  done(absl::OkStatus(), std::move(item.value), item.is_dead);
}

void LocalRendezvous::StartAbort(const absl::Status& status) {
  std::unordered_map<std::string, State::Queue> queues;
  {
    ScopedLock lock(&state_->mutex);
    if (!state_->aborted.ok()) return;
    state_->aborted = status;
    queues.swap(state_->queues);
  }
  for (auto& [key, queue] : queues) {
    for (State::Waiter& waiter : queue.waiters) {
      if (waiter.cancellation != nullptr) waiter.cancellation->TryDeregister(waiter.token);
      waiter.done(status, Tensor(), false);
    }
  }
}

}  // namespace sluice
