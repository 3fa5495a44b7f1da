// Chooses the simulated job (cluster_world.h) of each seed.
#ifndef SLUICE_TESTS_SIMULATE_CLUSTER_SEEDS_H_
#define SLUICE_TESTS_SIMULATE_CLUSTER_SEEDS_H_

#include <cstdint>
#include <string>

#include "graph/strings.h"
#include "tests/simulate/cluster_world.h"

namespace sluice {

// All jobs. In a deterministic job, the seed decides delays and interleavings, but nothing crashes.
// Such a job has no spare token (permission to compute one gradient), so it could not continue if
// its chief were lost during an update.
inline const ClusterOptions kJobs[] = {
    {.form = Form::kAccumulators, .aggregate = 2, .replicas = 3},
    {.form = Form::kQueues, .aggregate = 2, .replicas = 3},
    {.form = Form::kAccumulators, .aggregate = 1, .replicas = 2},
    {.form = Form::kQueues, .aggregate = 1, .replicas = 2},
    {.form = Form::kAccumulators, .aggregate = 3, .replicas = 2},
    {.form = Form::kQueues, .aggregate = 3, .replicas = 2},
    {.form = Form::kAccumulators,
     .aggregate = 2,
     .replicas = 2,
     .deterministic = true,
     .has_faults = false},
    {.form = Form::kQueues,
     .aggregate = 2,
     .replicas = 2,
     .deterministic = true,
     .has_faults = false},
};
// Seed n belongs to job n % kNumJobs.
inline constexpr uint64_t kNumJobs = sizeof(kJobs) / sizeof(kJobs[0]);

inline std::string NameOf(const ClusterOptions& job) {
  return StrCat(job.form == Form::kQueues ? "Queues" : "Accumulators", job.aggregate, "Of",
                job.replicas, job.deterministic ? "Deterministic" : "");
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SIMULATE_CLUSTER_SEEDS_H_
