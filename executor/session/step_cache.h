// Keeps the prepared steps of a session by their requests, so that each combination of feeds,
// fetches and targets is compiled once. The keys consist of node ids, which a graph never reuses.
#ifndef SLUICE_EXECUTOR_SESSION_STEP_CACHE_H_
#define SLUICE_EXECUTOR_SESSION_STEP_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "executor/session/request.h"
#include "executor/session/runner.h"

namespace sluice {

// Find returns null if there is no step for the request.
// Thread safety: Find takes no lock and may run at the same time as Insert. One thread at a time
// may call Insert. Lifetime: steps live as long as the cache.
class StepCache {
 public:
  StepCache();

  PreparedStep* Find(const StepRequest& request) const;
  PreparedStep* Insert(const StepRequest& request, std::unique_ptr<PreparedStep> step);
  void ForEach(absl::FunctionRef<void(PreparedStep&)> f) const;

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint64_t> key;
    std::unique_ptr<PreparedStep> step;
  };
  // A hash table with open addressing. A larger table replaces one that is half full. The old one
  // is kept, because readers may still use it.
  struct Table {
    explicit Table(size_t size) : slots(size) {}
    void Add(Entry* entry);
    std::vector<std::atomic<Entry*>> slots;
  };

  std::atomic<Table*> table_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_STEP_CACHE_H_
