// The layout of Unit::pending (plan.h) for a unit that is one Merge. This word counts separately
// the units whose control edges the Merge waits for, and its data inputs. A Merge is ready when all
// its control inputs have arrived and one of three conditions holds: a live data input is stored, a
// dead Enter has arrived, or all data inputs are dead.
#ifndef SLUICE_EXECUTOR_PLAN_MERGE_WORD_H_
#define SLUICE_EXECUTOR_PLAN_MERGE_WORD_H_

#include <cstdint>

namespace sluice::merge_word {

inline constexpr uint64_t kControl = 1;              // per unit with control edges to the Merge
inline constexpr uint64_t kCandidate = 1ull << 24;   // per data input that is not known to be dead
inline constexpr uint64_t kForcedDead = 1ull << 61;  // a dead Enter has arrived
inline constexpr uint64_t kClaimed = 1ull << 62;     // a live input is being stored
inline constexpr uint64_t kLive = 1ull << 63;        // a live input is stored
// The number of units that have control edges to the Merge and have not ended.
inline uint64_t Controls(uint64_t word) { return word & (kCandidate - 1); }
// The number of data inputs that are not known to be dead.
inline uint64_t Candidates(uint64_t word) { return (word & (kForcedDead - 1)) / kCandidate; }
// Whether the Merge is ready. It stays ready when more inputs arrive.
inline bool IsReady(uint64_t word) {
  return Controls(word) == 0 && ((word & (kLive | kForcedDead)) != 0 || Candidates(word) == 0);
}

}  // namespace sluice::merge_word

#endif  // SLUICE_EXECUTOR_PLAN_MERGE_WORD_H_
