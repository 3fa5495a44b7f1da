// Measures limits of the machine, and prints them as lines of JSON:
// - multiply-adds of floats per second on all cores,
// - bytes per second of a = b + 3 * c on all cores, with arrays larger than the caches,
// - the time for a cache line to travel from one core to another and back, which shows their
//   distance.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

typedef float Vector __attribute__((vector_size(64)));

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Twelve chains hide the latency of one. The compiler must not simplify them.
void MultiplyAndAdd(long times) {
  Vector x = {}, y = {};
  for (int i = 0; i < 16; ++i) x[i] = 0.999f, y[i] = 0.001f;
  Vector a = x, b = y, c = x, d = y, e = x, f = y, g = x, h = y, i = x, j = y, k = x, l = y;
  for (long t = 0; t < times; ++t) {
    a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y, e = e * x + y, f = f * x + y;
    g = g * x + y, h = h * x + y, i = i * x + y, j = j * x + y, k = k * x + y, l = l * x + y;
    asm volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f));
    asm volatile("" : "+v"(g), "+v"(h), "+v"(i), "+v"(j), "+v"(k), "+v"(l));
  }
}

void Triad(float* a, const float* b, const float* c, long n) {
  for (long i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
}

// The best time in seconds of `f` on all cores at once.
template <typename F>
double Best(int threads, int repetitions, F f) {
  double best = 1e9;
  for (int r = 0; r < repetitions; ++r) {
    std::atomic<int> ready{0};
    std::vector<std::thread> others;
    const auto start_together = [&] {
      ++ready;
      while (ready < threads) continue;
    };
    for (int i = 1; i < threads; ++i) {
      others.emplace_back([&, i] {
        start_together();
        f(i);
      });
    }
    start_together();
    const double start = SecondsNow();
    f(0);
    for (std::thread& t : others) t.join();
    best = std::min(best, SecondsNow() - start);
  }
  return best;
}

// The best round-trip time in nanoseconds.
double Handover() {
  constexpr int kTimes = 2000;
  std::atomic<int> turn{0};  // 1: the other thread's turn, 2: the end
  std::thread other([&] {
    for (int now = 0; now != 2; now = turn) {
      if (now == 1) turn = 0;
    }
  });
  double best = 1e9;
  for (int r = 0; r < 20; ++r) {
    const double start = SecondsNow();
    for (int i = 0; i < kTimes; ++i) {
      turn = 1;
      while (turn != 0) continue;
    }
    best = std::min(best, (SecondsNow() - start) / kTimes);
  }
  turn = 2;
  other.join();
  return best * 1e9;
}

void PrintRates(int threads) {
  constexpr long kTimes = 20'000'000;
  const double seconds = Best(threads, 5, [](int) { MultiplyAndAdd(kTimes); });
  std::printf("{\"ceiling\":\"gflops\",\"value\":%.4g}\n",
              2.0 * 16 * 12 * kTimes * threads / seconds * 1e-9);
  const long n = 1 << 24;
  std::vector<float> a(n, 1), b(n, 1), c(n, 1);
  const long part = n / threads;
  const double pass = Best(threads, 9, [&](int i) {
    Triad(a.data() + i * part, b.data() + i * part, c.data() + i * part, part);
  });
  std::printf("{\"ceiling\":\"gbps\",\"value\":%.4g}\n",
              3.0 * sizeof(float) * static_cast<double>(part * threads) / pass * 1e-9);
}

}  // namespace

// Prints all lines, or with any argument only the last one.
int main(int count, char**) {
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (count == 1) PrintRates(threads);
  if (threads > 1) std::printf("{\"ceiling\":\"handover_ns\",\"value\":%.4g}\n", Handover());
}
