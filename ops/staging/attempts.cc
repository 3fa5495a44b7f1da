#include "ops/staging/attempts.h"

#include <algorithm>
#include <set>

#include "executor/wait/out_of_memory.h"
#include "graph/strings.h"

namespace sluice {
namespace {

absl::Status WaitCancelled(const Caller& caller) {
  return absl::CancelledError(StrCat(caller.op, " operation was cancelled"));
}

}  // namespace

void Attempts::Run(std::shared_ptr<Resource> owner, const Caller& caller, int line,
                   Function attempt, Done done) noexcept {
  List ended;
  {
    ScopedLock lock(&mutex_);
    const int64_t id = next_id_++;
    waiting_.push_back(
        {.id = id, .line = line, .function = std::move(attempt), .done = std::move(done)});
    if (caller.IsCancelled()) {
      waiting_.back().status = WaitCancelled(caller);
      ended.splice(ended.end(), waiting_, std::prev(waiting_.end()));
    }
    TryAll(&ended);
    // If the attempt waits, it is the last one, because TryAll keeps the order of waiting attempts.
    if (!waiting_.empty() && waiting_.back().id == id) {
      Attempt& last = waiting_.back();
      last.status = WaitCancelled(caller);
      const bool waits = last.wait.Start(
          caller, resource_, [this, owner, id] { Cancel(id); },
          [this, owner] {
            ScopedLock state_lock(&mutex_);
            return State();
          });
      if (!waits) ended.splice(ended.end(), waiting_, std::prev(waiting_.end()));
    }
  }
  Finish(std::move(ended));
}

void Attempts::Change(const std::function<void()>& change) noexcept {
  List ended;
  {
    ScopedLock lock(&mutex_);
    change();
    TryAll(&ended);
  }
  Finish(std::move(ended));
}

void Attempts::TryAll(List* ended) {
  while (TryOnce(ended)) {
  }
}

bool Attempts::TryOnce(List* ended) {
  bool any = false;
  std::set<int> blocked;  // lines whose first attempt has to wait
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto attempt = it++;
    if (blocked.contains(attempt->line)) continue;
    std::optional<absl::Status> status;
    const absl::Status ran = OrOutOfMemory([&] { status = attempt->function(); });
    if (!ran.ok()) status = ran;
    if (!status.has_value()) {
      if (attempt->line != kNoLine) blocked.insert(attempt->line);
      continue;
    }
    any = true;
    attempt->status = *std::move(status);
    ended->splice(ended->end(), waiting_, attempt);
  }
  return any;
}

void Attempts::Cancel(int64_t id) noexcept {
  List ended;
  {
    ScopedLock lock(&mutex_);
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [id](const Attempt& a) { return a.id == id; });
    if (found == waiting_.end()) return;
    ended.splice(ended.end(), waiting_, found);
    TryAll(&ended);  // attempts in its line may have waited for it
  }
  Finish(std::move(ended));
}

void Attempts::Finish(List ended) {
  for (Attempt& attempt : ended) {
    attempt.wait.End();
    attempt.function = nullptr;
    attempt.done(std::move(attempt.status));
  }
}

std::string Attempts::State() const {
  return StrCat(state_(), waiting_.empty() ? "" : StrCat(", ", waiting_.size(), " waiting"));
}

std::string Attempts::Describe() const {
  ScopedLock lock(&mutex_);
  return StrCat(resource_, ": ", State());
}

}  // namespace sluice
