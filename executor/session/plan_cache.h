// The plans of a session, by feeds, fetches and targets.
//
// Thread safety: Find takes no lock and may run beside Insert; Insert by one thread at a time.
// Plans live as long as the cache.
#ifndef SLUICE_EXECUTOR_SESSION_PLAN_CACHE_H_
#define SLUICE_EXECUTOR_SESSION_PLAN_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "executor/session/session_plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// What is asked for, as numbers of nodes (never used twice in a graph) and outputs.
struct PlanRequest {
  // One function a feed, so that a list of feeds need not be copied into a list of outputs.
  const Output* first_feed = nullptr;
  size_t feed_stride = sizeof(Output);  // bytes from one feed's Output to the next
  size_t num_feeds = 0;
  absl::Span<const Output> fetches;
  absl::Span<const Operation> targets;
  bool is_partial = false;  // feeds and fetches pass through the step's rendezvous

  const Output& feed(size_t i) const {
    return *reinterpret_cast<const Output*>(reinterpret_cast<const char*>(first_feed) +
                                            i * feed_stride);
  }
};

class PlanCache {
 public:
  PlanCache();
  ~PlanCache();

  SessionPlan* Find(const PlanRequest& request) const;
  SessionPlan* Insert(const PlanRequest& request, std::unique_ptr<SessionPlan> plan);
  void ForEach(const std::function<void(SessionPlan&)>& f) const;

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint64_t> key;
    std::unique_ptr<SessionPlan> plan;
  };
  // Open addressing; a larger table replaces a full one, which is kept for readers under way.
  struct Table {
    explicit Table(size_t size) : slots(size) {}
    std::vector<std::atomic<Entry*>> slots;
  };
  static bool Matches(const Entry& entry, const PlanRequest& request);
  void Grow();

  std::atomic<Table*> table_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_PLAN_CACHE_H_
