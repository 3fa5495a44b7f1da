#include "ops/embedding/initial_rows.h"

#include <algorithm>
#include <cmath>

#include "graph/tensor/float16.h"
#include "ops/random/distributions.h"

namespace sluice {
namespace {

constexpr int kGroup = Philox::kResults;

// Writes groups of four standard normal numbers.
void NormalGroup(Philox& generator, float* out) {
  const Philox::Results r = generator();
  for (int i = 0; i < kGroup; i += 2) {
    const random::NormalPair<float> pair = random::BoxMuller(r[i], r[i + 1]);
    out[i] = pair.first;
    out[i + 1] = pair.second;
  }
}

int TruncatedNormalGroup(Philox& generator, float* out) {
  float drawn[kGroup];
  NormalGroup(generator, drawn);
  const auto* end =
      std::copy_if(drawn, drawn + kGroup, out, [](float x) { return std::abs(x) < 2; });
  return static_cast<int>(end - out);
}

// Writes the next numbers and returns how many there are, at most kGroup.
int NextGroup(const InitialRows& rows, Philox& generator, float* out) {
  int n = kGroup;
  switch (rows.kind) {
    case InitialRows::Kind::kConstant:
      std::fill_n(out, kGroup, rows.first);
      return n;
    case InitialRows::Kind::kUniform: {
      const Philox::Results r = generator();
      for (int i = 0; i < kGroup; ++i) {
        out[i] = rows.first + (rows.second - rows.first) * random::ToFloat(r[i]);
      }
      return n;
    }
    case InitialRows::Kind::kNormal:
      NormalGroup(generator, out);
      break;
    case InitialRows::Kind::kTruncatedNormal:
      n = TruncatedNormalGroup(generator, out);
      break;
  }
  for (int i = 0; i < n; ++i) out[i] = rows.first + rows.second * out[i];
  return n;
}

template <typename T>
void FillTyped(const InitialRows& rows, Philox generator, int64_t size, T* row) {
  float group[kGroup];
  for (int64_t done = 0; done < size;) {
    const int n = NextGroup(rows, generator, group);
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
