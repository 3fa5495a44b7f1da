// Runs any number of seeds of the simulated embedding tables.
//
//   bazel run //tests/simulate:table_seeds -- --seeds=100000 [--first=1] [--every=1000]
//   bazel run //tests/simulate:table_seeds -- --story=4711
//
// Prints a line after every so many seeds, each failure with its story, and the number of seeds.
// Exits with 1 if a seed failed.
#include "tests/simulate/table_seeds.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <string_view>

#include "absl/strings/numbers.h"
#include "graph/strings.h"
#include "tests/simulate/table_world.h"

namespace sluice {
namespace {

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
      std::fprintf(stderr,
                   "table_seeds: expected --first=, --seeds=, --every= or --story=, got %s\n",
                   argv[i]);
      return false;
    }
  }
  return true;
}

TableVerdict Train(uint64_t seed) {
  return TableWorld(kTableJobs[seed % kNumTableJobs].job).Train(seed);
}

void Print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int Run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  uint64_t failed = 0;
  TableVerdict sum;
  for (uint64_t done = 0; done < arguments.seeds; ++done) {
    const uint64_t seed = arguments.first + done;
    const TableVerdict verdict = Train(seed);
    sum.lookups += verdict.lookups;
    sum.updates += verdict.updates;
    sum.admitted += verdict.admitted;
    sum.evicted += verdict.evicted;
    sum.saves += verdict.saves;
    sum.restores += verdict.restores;
    if (!verdict.failure.empty()) {
      ++failed;
      Print(StrCat("seed ", seed, " (", kTableJobs[seed % kNumTableJobs].name,
                   ") failed: ", verdict.failure, "\n", verdict.story));
    }
    if ((done + 1) % arguments.every != 0 && done + 1 != arguments.seeds) continue;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    Print(StrCat(done + 1, " seeds from ", arguments.first, ": ", failed, " failed; ", sum.lookups,
                 " lookups, ", sum.updates, " updates, ", sum.admitted, " admitted, ", sum.evicted,
                 " evicted, ", sum.saves, " saves, ", sum.restores, " restores, ",
                 static_cast<int64_t>(wall.count()), " s"));
  }
  return failed == 0 ? 0 : 1;
}

int TellStory(uint64_t seed) {
  const TableVerdict verdict = Train(seed);
  Print(StrCat("seed ", seed, " (", kTableJobs[seed % kNumTableJobs].name,
               "): ", verdict.failure.empty() ? "well" : verdict.failure, "\n", verdict.story));
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
