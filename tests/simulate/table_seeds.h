// Chooses the simulated job of an embedding table (table_world.h) for each seed.
#ifndef SLUICE_TESTS_SIMULATE_TABLE_SEEDS_H_
#define SLUICE_TESTS_SIMULATE_TABLE_SEEDS_H_

#include <cstdint>

#include "tests/simulate/table_world.h"

namespace sluice {

struct NamedTableJob {
  const char* name;
  TableJob job;
};

// Seed n belongs to job n % kNumTableJobs.
inline const NamedTableJob kTableJobs[] = {
    {"NoRules", {}},
    {"AdmissionAndSteps", {.admission = {.after_updates = 3}, .eviction = {.idle_steps = 6}}},
    {"Steps", {.eviction = {.idle_steps = 4}}},
    {"CountedSteps", {.eviction = {.idle_steps = 5}, .has_global_step = false}},
    {"Seconds", {.eviction = {.idle_seconds = 0.15f}}},
    {"SmallRows", {.eviction = {.min_norm = 3, .min_norm_steps = 3}}},
    {"Capacity", {.admission = {.after_updates = 2}, .eviction = {.capacity = 6}}},
    {"Filter",
     {.admission = {.after_updates = 3, .filter_counters = 1000, .probability = 0.8f},
      .eviction = {.idle_steps = 8}}},
    {"All",
     {.admission = {.after_updates = 2, .probability = 0.9f},
      .eviction = {.idle_steps = 12,
                   .idle_seconds = 0.3f,
                   .min_norm = 2,
                   .min_norm_steps = 4,
                   .capacity = 10,
                   .least_updated = true}}},
};
inline constexpr uint64_t kNumTableJobs = sizeof(kTableJobs) / sizeof(kTableJobs[0]);

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_TABLE_SEEDS_H_
