// Runs any number of seeds of the simulated cluster.
//
//   bazel run //tests/simulate:seeds -- --seeds=100000 [--first=1] [--every=1000]
//   bazel run //tests/simulate:seeds -- --story=4711
//
// Prints a line after every so many seeds, each failure with its story, and the number of seeds.
// Exits with 1 if a seed failed.
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>

#include "absl/strings/numbers.h"
#include "tests/simulate/cluster_seeds.h"
#include "tests/simulate/cluster_world.h"

namespace sluice {
namespace {

using Count = unsigned long long;

struct Arguments {
  uint64_t first = 1;
  uint64_t seeds = 1000;
  uint64_t every = 1000;
  uint64_t story = 0;
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  const std::map<std::string_view, uint64_t*> known = {{"--first", &arguments->first},
                                                       {"--seeds", &arguments->seeds},
                                                       {"--every", &arguments->every},
                                                       {"--story", &arguments->story}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    const auto flag = known.find(text.substr(0, text.find('=')));
    if (flag == known.end() || text.find('=') == text.npos ||
        !absl::SimpleAtoi(ToAbsl(text.substr(text.find('=') + 1)), flag->second)) {
      std::fprintf(stderr, "seeds: expected --first=, --seeds=, --every= or --story=, got %s\n",
                   argv[i]);
      return false;
    }
  }
  return true;
}

int Run(const Arguments& arguments) {
  std::vector<std::unique_ptr<ClusterWorld>> worlds;
  for (const ClusterOptions& job : kJobs) {
    worlds.push_back(std::make_unique<ClusterWorld>(job));
    if (worlds.back()->status().ok()) continue;
    std::fprintf(stderr, "%s\n", worlds.back()->status().ToString().c_str());
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  uint64_t seeds = 0, failed = 0, trained = 0, crashes = 0, calls = 0;
  double simulated_s = 0;
  const auto tell = [&] {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    std::printf(
        "%llu seeds from %llu: %llu failed, %llu trained; %llu crashes, %llu calls, %.0f s "
        "simulated, %.1f s\n",
        Count{seeds}, Count{arguments.first}, Count{failed}, Count{trained}, Count{crashes},
        Count{calls}, simulated_s, wall.count());
    std::fflush(stdout);
  };
  while (seeds < arguments.seeds) {
    const uint64_t seed = arguments.first + seeds;
    const Verdict verdict = worlds[seed % kNumJobs]->Train(seed);
    ++seeds;
    trained += verdict.is_trained ? 1 : 0;
    crashes += static_cast<uint64_t>(verdict.crashes);
    calls += static_cast<uint64_t>(verdict.calls);
    simulated_s += static_cast<double>(verdict.time_us) / 1e6;
    if (!verdict.failure.empty()) {
      ++failed;
      std::printf("seed %llu (%s) failed: %s\n%s", Count{seed},
                  NameOf(kJobs[seed % kNumJobs]).c_str(), verdict.failure.c_str(),
                  verdict.story.c_str());
    } else if (!verdict.is_trained) {
      std::printf("seed %llu (%s) came to the last attempt of a replica\n", Count{seed},
                  NameOf(kJobs[seed % kNumJobs]).c_str());
    }
    if (seeds % arguments.every == 0) tell();
  }
  if (seeds % arguments.every != 0) tell();
  return failed == 0 ? 0 : 1;
}

int TellStory(uint64_t seed) {
  const ClusterOptions& job = kJobs[seed % kNumJobs];
  const Verdict verdict = ClusterWorld(job).Train(seed);
  std::printf("seed %llu (%s): %s\n%s", Count{seed}, NameOf(job).c_str(),
              verdict.failure.empty() ? "well" : verdict.failure.c_str(), verdict.story.c_str());
  return verdict.failure.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  sluice::Arguments arguments;
  if (!sluice::Parse(argc, argv, &arguments)) return 2;
  if (arguments.every == 0) arguments.every = 1;
  return arguments.story != 0 ? sluice::TellStory(arguments.story) : sluice::Run(arguments);
}
