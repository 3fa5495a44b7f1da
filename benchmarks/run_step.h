// Runs one step repeatedly. The benchmarks of the executor and of the layers above use it.
#ifndef SLUICE_BENCHMARKS_RUN_STEP_H_
#define SLUICE_BENCHMARKS_RUN_STEP_H_

#include <benchmark/benchmark.h>

#include <vector>

#include "executor/session/session.h"

namespace sluice {

// If `status` is an error, reports it and ends the benchmark.
inline bool Works(benchmark::State& state, const absl::Status& status) {
  if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  return status.ok();
}

struct StepToRun {
  std::vector<Feed> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  double ops = 1;    // per step, for `time_per_op`
  double bytes = 0;  // moved per step, for `bytes_per_second`
  int warm_steps = 10;
};

inline void RunStep(benchmark::State& state, Session& session, const StepToRun& step) {
  for (int i = 0; i < step.warm_steps; ++i) {
    if (!Works(state, session.Run(step.feeds, step.fetches, step.targets).status())) return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(session.Run(step.feeds, step.fetches, step.targets));
  }
  state.counters["time_per_op"] = benchmark::Counter(
      step.ops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  if (step.bytes > 0) {
    state.counters["bytes_per_second"] =
        benchmark::Counter(step.bytes, benchmark::Counter::kIsIterationInvariantRate,
                           benchmark::Counter::OneK::kIs1000);
  }
}

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_RUN_STEP_H_
