#include "ops/embedding/initial_rows.h"

#include <algorithm>
#include <cmath>

#include "executor/cpu/target_clones.h"
#include "graph/tensor/float16.h"
#include "ops/random/distributions.h"

namespace sluice {
namespace {

constexpr int kGroup = Philox::kResults;

constexpr int kAtOnce = 4;  // calls of the generator

// Writes the results of the next calls of a generator. The loops over calls use vectors.
SLUICE_TARGET_CLONES
void NextNumbers(const Philox::Counter& counter, Philox::Key key, uint32_t* numbers) {
  uint32_t c[kGroup][kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) {
    // The lowest word does not overflow, because rows have fewer elements.
    c[0][i] = counter[0] + static_cast<uint32_t>(i);
    for (int w = 1; w < kGroup; ++w) c[w][i] = counter[w];
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kAtOnce; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c[0][i];
      const uint64_t b = uint64_t{0xCD9E8D57} * c[2][i];
      c[0][i] = static_cast<uint32_t>(b >> 32) ^ c[1][i] ^ key[0];
      c[1][i] = static_cast<uint32_t>(b);
      c[2][i] = static_cast<uint32_t>(a >> 32) ^ c[3][i] ^ key[1];
      c[3][i] = static_cast<uint32_t>(a);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  for (int i = 0; i < kAtOnce; ++i) {
    for (int w = 0; w < kGroup; ++w) numbers[i * kGroup + w] = c[w][i];
  }
}

// The results of a generator, four at a time.
class Numbers {
 public:
  explicit Numbers(const Philox& generator) : generator_(generator) {}
  const uint32_t* operator()() {
    if (used_ == kAtOnce) {
      NextNumbers(generator_.counter(), generator_.key(), numbers_);
      generator_.Skip(kAtOnce);
      used_ = 0;
    }
    return numbers_ + kGroup * used_++;
  }

 private:
  Philox generator_;
  int used_ = kAtOnce;
  uint32_t numbers_[kGroup * kAtOnce];
};

// Writes groups of four standard normal numbers.
void NormalGroup(Numbers& numbers, float* out) {
  const uint32_t* r = numbers();
  for (int i = 0; i < kGroup; i += 2) {
    const random::NormalPair<float> pair = random::BoxMuller(r[i], r[i + 1]);
    out[i] = pair.first;
    out[i + 1] = pair.second;
  }
}

int TruncatedNormalGroup(Numbers& numbers, float* out) {
  float drawn[kGroup];
  NormalGroup(numbers, drawn);
  const auto* end =
      std::copy_if(drawn, drawn + kGroup, out, [](float x) { return std::abs(x) < 2; });
  return static_cast<int>(end - out);
}

// Writes the next numbers and returns how many there are, at most kGroup.
int NextGroup(const InitialRows& rows, Numbers& numbers, float* out) {
  int n = kGroup;
  switch (rows.kind) {
    case InitialRows::Kind::kConstant:
      std::fill_n(out, kGroup, rows.first);
      return n;
    case InitialRows::Kind::kUniform: {
      const uint32_t* r = numbers();
      for (int i = 0; i < kGroup; ++i) {
        out[i] = rows.first + (rows.second - rows.first) * random::ToFloat(r[i]);
      }
      return n;
    }
    case InitialRows::Kind::kNormal:
      NormalGroup(numbers, out);
      break;
    case InitialRows::Kind::kTruncatedNormal:
      n = TruncatedNormalGroup(numbers, out);
      break;
  }
  for (int i = 0; i < n; ++i) out[i] = rows.first + rows.second * out[i];
  return n;
}

template <typename T>
void FillTyped(const InitialRows& rows, const Philox& generator, int64_t size, T* row) {
  Numbers numbers(generator);
  float group[kGroup];
  for (int64_t done = 0; done < size;) {
    const int n = NextGroup(rows, numbers, group);
    for (int i = 0; i < n && done < size; ++i) row[done++] = static_cast<T>(group[i]);
  }
}

}  // namespace

// The key is the upper half of the counter, so that each key has a sequence of its own.
void InitialRows::Fill(int64_t seed, int64_t key, DataType dtype, int64_t size, void* row) const {
  const Philox generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(key));
  if (dtype == DT_FLOAT) FillTyped(*this, generator, size, static_cast<float*>(row));
  if (dtype == DT_HALF) FillTyped(*this, generator, size, static_cast<half*>(row));
  if (dtype == DT_BFLOAT16) FillTyped(*this, generator, size, static_cast<bfloat16*>(row));
}

}  // namespace sluice
