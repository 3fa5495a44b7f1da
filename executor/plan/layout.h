// From items and units to the arrays of a Body: slots, last readers, edges, pending counts.
#ifndef SLUICE_EXECUTOR_PLAN_LAYOUT_H_
#define SLUICE_EXECUTOR_PLAN_LAYOUT_H_

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"
#include "executor/plan/units.h"

namespace sluice {

// Pending words of units that count Merge's inputs apart (plan.h: Unit::pending).
namespace merge_word {
inline constexpr uint64_t kControl = 1;              // one control input to come
inline constexpr uint64_t kCandidate = 1ull << 24;   // one data input that may yet be alive
inline constexpr uint64_t kForcedDead = 1ull << 61;  // a dead Enter arrived
inline constexpr uint64_t kClaimed = 1ull << 62;     // a live input is being stored
inline constexpr uint64_t kLive = 1ull << 63;        // …and is there
inline uint64_t Controls(uint64_t word) { return word & (kCandidate - 1); }
inline uint64_t Candidates(uint64_t word) { return (word & (kForcedDead - 1)) / kCandidate; }
// Never false again once true.
inline bool IsReady(uint64_t word) {
  return Controls(word) == 0 && ((word & (kLive | kForcedDead)) != 0 || Candidates(word) == 0);
}
}  // namespace merge_word

// The arrays of a body. Arrivals are numbers of items until LinkFrames makes them points of
// `plan->arrivals`.
Body LayOut(const DraftBody& draft, const Partition& partition);
void LinkFrames(const Draft& draft, const std::vector<Partition>& partitions, Plan* plan);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_LAYOUT_H_
