// Measures the speed and memory of embedding tables (ops/embedding), with rows of 16 floats.
//
// Required: 20 M lookups/s and 3 M inserts/s per core; no call of 10,000 keys three times as long
// as the median while the table grows to 20 M keys; at most 1.25 times the payload per key.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <vector>

#include "ops/embedding/row_store.h"

namespace sluice {
namespace {

constexpr int64_t kDim = 16;
constexpr int64_t kPerCall = 10'000;

std::vector<int64_t> Positions() {
  std::vector<int64_t> all(kPerCall);
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

void AddKeys(RowStore& store, const std::vector<int64_t>& keys) {
  static const auto* positions = new std::vector<int64_t>(Positions());
  const auto touch = [](int64_t, void* row, char*) { static_cast<float*>(row)[0] += 1; };
  store.Update(keys, *positions, 1, touch).IgnoreError();
}

RowStoreOptions Options() { return {.name = "t", .dim = kDim, .slot_values = {0.1f}}; }

// Keys as those of a hashed feature: 0, 1, 2, … multiplied by an odd number.
std::vector<int64_t> Call(int64_t number) {
  std::vector<int64_t> keys(kPerCall);
  for (int64_t i = 0; i < kPerCall; ++i) {
    keys[i] =
        static_cast<int64_t>(static_cast<uint64_t>(number * kPerCall + i) * 0x9E3779B97F4A7C15u);
  }
  return keys;
}

void Lookups(benchmark::State& state) {
  RowStore store(Options());
  const int64_t calls = state.range(0) / kPerCall;
  for (int64_t i = 0; i < calls; ++i) AddKeys(store, Call(i));
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < calls; ++i) {
    const std::vector<int64_t> call = Call(i);
    keys.insert(keys.end(), call.begin(), call.end());
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937(1));
  std::vector<float> rows(kPerCall * kDim);
  size_t begin = 0;
  for (auto _ : state) {
    store.Gather(absl::MakeSpan(keys).subspan(begin, kPerCall), rows.data());
    benchmark::DoNotOptimize(rows.data());
    begin = begin + 2 * kPerCall > keys.size() ? 0 : begin + kPerCall;
  }
  state.SetItemsProcessed(state.iterations() * kPerCall);
}
BENCHMARK(Lookups)->Arg(10'000)->Arg(1'000'000)->Arg(4'000'000)->Unit(benchmark::kMicrosecond);

void Updates(benchmark::State& state) {
  RowStore store(Options());
  const int64_t calls = state.range(0) / kPerCall;
  for (int64_t i = 0; i < calls; ++i) AddKeys(store, Call(i));
  int64_t i = 0;
  for (auto _ : state) AddKeys(store, Call(i++ % calls));
  state.SetItemsProcessed(state.iterations() * kPerCall);
}
BENCHMARK(Updates)->Arg(10'000)->Arg(4'000'000)->Unit(benchmark::kMicrosecond);

// Writes to memory as large as that of the table, and frees it. A virtual machine may otherwise
// have to get the memory from its host while the table grows, which takes longer than the growth.
void GetMemoryFromHost(int64_t keys) {
  const auto bytes = static_cast<size_t>(keys * 170 + (64 << 20));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
  munmap(memory, bytes);
}

// Returns longest / median.
double Longest(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds.back() / seconds[seconds.size() / 2];
}

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Grows to the number of keys. Counters: inserts per second, the longest call relative to the
// median, bytes per key and relative to row, slot, count and step. "cpu" counters are of the
// thread's processor time: they leave out the time in which other programs have the processor.
void Growth(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  for (auto _ : state) {
    state.PauseTiming();
    GetMemoryFromHost(state.range(0));
    state.ResumeTiming();
    RowStore store(Options());
    std::vector<double> seconds, cpu;
    for (int64_t i = 0; i < state.range(0) / kPerCall; ++i) {
      const std::vector<int64_t> keys = Call(i);
      const auto start = Clock::now();
      const double cpu_start = CpuSeconds();
      AddKeys(store, keys);
      cpu.push_back(CpuSeconds() - cpu_start);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    const auto n = static_cast<double>(store.size());
    const double bytes = static_cast<double>(store.bytes()) / n;
    state.counters["inserts/s"] = n / std::accumulate(seconds.begin(), seconds.end(), 0.0);
    state.counters["cpu inserts/s"] = n / std::accumulate(cpu.begin(), cpu.end(), 0.0);
    state.counters["longest/median"] = Longest(seconds);
    state.counters["cpu longest/median"] = Longest(cpu);
    state.counters["bytes/key"] = bytes;
    state.counters["bytes/payload"] = bytes / (2 * kDim * 4 + 8 + 4);
  }
}
BENCHMARK(Growth)->Arg(1'000'000)->Arg(20'000'000)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
