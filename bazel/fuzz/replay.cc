// main() of a fuzz target without libFuzzer. Runs LLVMFuzzerTestOneInput on each file of the
// command line, then on deterministic mutations of them. So every test run covers the corpus and
// some mutations.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kMutationsPerFile = 500;

void RunOn(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Flips, overwrites, inserts, removes or truncates at one position.
void Mutate(std::string& bytes, std::mt19937& random) {
  const size_t at = bytes.empty() ? 0 : random() % bytes.size();
  const char byte = static_cast<char>(random());
  switch (random() % 5) {
    case 0:
      if (!bytes.empty()) bytes[at] ^= static_cast<char>(1 << (random() % 8));
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = byte;
      break;
    case 2:
      bytes.insert(at, 1 + random() % 4, byte);
      break;
    case 3:
      bytes.erase(at, 1 + random() % 4);
      break;
    default:
      bytes.resize(at);
  }
}

void RunOnMutationsOf(const std::string& bytes) {
  std::mt19937 random(static_cast<uint32_t>(bytes.size()));
  for (int i = 0; i < kMutationsPerFile; ++i) {
    std::string mutated = bytes;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) Mutate(mutated, random);
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
