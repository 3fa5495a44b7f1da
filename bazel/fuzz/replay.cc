// main() of a fuzz target without libFuzzer. Runs LLVMFuzzerTestOneInput on each file of the
// command line, then on deterministic mutations of them. So every test run covers the corpus and
// some mutations.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "bazel/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kMutationsPerFile = 500;

void RunOn(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void RunOnMutationsOf(const std::string& bytes) {
  std::mt19937 random(static_cast<uint32_t>(bytes.size()));
  for (int i = 0; i < kMutationsPerFile; ++i) {
    std::string mutated = bytes;
    sluice::Mutate(mutated, random, 1);
    RunOn(mutated);
  }
}

}  // namespace

int main(int argc, char** argv) {
  RunOn("");
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "no file '%s'\n", argv[i]);
      return 1;
    }
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    RunOn(bytes);
    RunOnMutationsOf(bytes);
  }
  return 0;
}
