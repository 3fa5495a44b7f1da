#include <algorithm>
#include <utility>

#include "executor/testing/test_ops.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice::testing {

Events& Events::Get() {
  static Events* events = new Events;
  return *events;
}

void Events::Add(const std::string& name, KernelContext& context,
                 std::function<void(absl::Status)> done) {
  CancellationManager* cancellation = context.step().cancellation;
  const int64_t token = cancellation->NewToken();
  {
    ScopedLock lock(&mutex_);
    if (fired_[name] == 0) {
      const int64_t id = next_id_++;
      if (cancellation->Register(token, [this, name, id] { Cancel(name, id); })) {
        waiting_[name].push_back({id, std::move(done), cancellation, token});
        changed_.NotifyAll();
        return;
      }
      lock.Unlock();
      done(absl::CancelledError("wait cancelled"));
      return;
    }
    --fired_[name];
  }
  done(absl::OkStatus());
}

void Events::Cancel(const std::string& name, int64_t id) {
  std::function<void(absl::Status)> done;
  {
    ScopedLock lock(&mutex_);
    std::vector<Call>& calls = waiting_[name];
    auto it = std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.id == id; });
    if (it == calls.end()) return;
    done = std::move(it->done);
    calls.erase(it);
    changed_.NotifyAll();
  }
  done(absl::CancelledError("wait cancelled"));
}

void Events::Fire(const std::string& name) {
  Call call;
  {
    ScopedLock lock(&mutex_);
    std::vector<Call>& calls = waiting_[name];
    if (calls.empty()) {
      ++fired_[name];
      return;
    }
    call = std::move(calls.front());
    calls.erase(calls.begin());
    changed_.NotifyAll();
  }
  call.cancellation->TryDeregister(call.token);
  call.done(absl::OkStatus());
}

void Events::FailTogether(const std::map<std::string, absl::Status>& errors) {
  std::vector<std::pair<Call, absl::Status>> calls;
  {
    ScopedLock lock(&mutex_);
    for (const auto& [name, error] : errors) {
      std::vector<Call>& waiting = waiting_[name];
      calls.emplace_back(std::move(waiting.front()), error);
      waiting.erase(waiting.begin());
    }
    changed_.NotifyAll();
  }
  for (auto& [call, error] : calls) {
    call.cancellation->TryDeregister(call.token);
    call.done(error);
  }
}

void Events::Reset() {
  ScopedLock lock(&mutex_);
  fired_.clear();
}

int Events::waiting(const std::string& name) {
  ScopedLock lock(&mutex_);
  return static_cast<int>(waiting_[name].size());
}

void Events::AwaitWaiting(const std::string& name, int n) {
  ScopedLock lock(&mutex_);
  while (static_cast<int>(waiting_[name].size()) < n) changed_.Wait(&mutex_);
}

}  // namespace sluice::testing
