#include "ops/embedding/initial_rows.h"

#include <algorithm>
#include <cmath>

#include "executor/cpu/target_clones.h"
#include "graph/tensor/float16.h"
#include "ops/random/distributions.h"

namespace sluice {
namespace {

constexpr int kGroup = Philox::kResults;
constexpr int64_t kLanes = 16;  // calls of generators at once
constexpr int64_t kNumbers = kLanes * kGroup;

// A call of the generator of a row.
struct Call {
  int64_t key;
  uint32_t number;  // does not overflow, because rows have fewer elements
};

// Writes the results of 16 calls, which may be of different rows. The loops over calls use vectors.
SLUICE_TARGET_CLONES
void Generate(const Call* calls, Philox::Key key, uint32_t* numbers) {
  uint32_t c[kGroup][kLanes];
  for (int i = 0; i < kLanes; ++i) {
    c[0][i] = calls[i].number;
    c[1][i] = 0;
    // The key is the upper half of the counter, so that each key has a sequence of its own.
    c[2][i] = static_cast<uint32_t>(calls[i].key);
    c[3][i] = static_cast<uint32_t>(static_cast<uint64_t>(calls[i].key) >> 32);
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
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
  for (int i = 0; i < kLanes; ++i) {
    for (int w = 0; w < kGroup; ++w) numbers[i * kGroup + w] = c[w][i];
  }
}

// These are not compiled for several instruction sets: fused multiplication and addition would
// change bits.
void StandardNormal(const uint32_t* bits, float* out) {
  for (int64_t i = 0; i < kNumbers; i += 2) {
    const random::NormalPair<float> pair = random::BoxMuller(bits[i], bits[i + 1]);
    out[i] = pair.first;
    out[i + 1] = pair.second;
  }
}

// For a uniform or normal distribution.
void Transform(const InitialRows& rows, const uint32_t* bits, float* out) {
  if (rows.kind == InitialRows::Kind::kUniform) {
    for (int64_t i = 0; i < kNumbers; ++i) {
      out[i] = rows.first + (rows.second - rows.first) * random::ToFloat(bits[i]);
    }
    return;
  }
  StandardNormal(bits, out);
  for (int64_t i = 0; i < kNumbers; ++i) out[i] = rows.first + rows.second * out[i];
}

// Element i of a row is result i of its generator.
template <typename T>
void FillEach(const InitialRows& rows, Philox::Key seed, absl::Span<const int64_t> keys,
              int64_t size, T* const* out) {
  const int64_t calls_of_row = (size + kGroup - 1) / kGroup;
  Call calls[kLanes] = {};
  T* to[kLanes];
  int64_t left[kLanes], n = 0;
  const auto flush = [&] {
    uint32_t bits[kNumbers];
    float values[kNumbers];
    Generate(calls, seed, bits);
    Transform(rows, bits, values);
    for (int64_t i = 0; i < n; ++i) {
      const float* value = values + i * kGroup;
      if (left[i] >= kGroup) {
        for (int j = 0; j < kGroup; ++j) to[i][j] = static_cast<T>(value[j]);
      } else {
        for (int64_t j = 0; j < left[i]; ++j) to[i][j] = static_cast<T>(value[j]);
      }
    }
    n = 0;
  };
  for (size_t k = 0; k < keys.size(); ++k) {
    for (int64_t call = 0; call < calls_of_row; ++call) {
      calls[n] = {keys[k], static_cast<uint32_t>(call)};
      to[n] = out[k] + call * kGroup;
      left[n] = size - call * kGroup;
      if (++n == kLanes) flush();
    }
  }
  if (n > 0) flush();
}

template <typename T>
void FillTruncated(const InitialRows& rows, Philox::Key seed, int64_t key, int64_t size, T* row) {
  Call calls[kLanes];
  uint32_t bits[kNumbers];
  float values[kNumbers];
  for (int64_t done = 0, first = 0; done < size; first += kLanes) {
    for (int64_t i = 0; i < kLanes; ++i) calls[i] = {key, static_cast<uint32_t>(first + i)};
    Generate(calls, seed, bits);
    StandardNormal(bits, values);
    for (const float x : values) {
      if (std::abs(x) < 2 && done < size) {
        row[done++] = static_cast<T>(rows.first + rows.second * x);
      }
    }
  }
}

template <typename T>
void FillTyped(const InitialRows& rows, int64_t seed, absl::Span<const int64_t> keys, int64_t size,
               void* const* out) {
  const Philox::Key philox = Philox(static_cast<uint64_t>(seed), 0).key();
  auto* const* typed = reinterpret_cast<T* const*>(out);
  switch (rows.kind) {
    case InitialRows::Kind::kConstant:
      for (size_t k = 0; k < keys.size(); ++k) std::fill_n(typed[k], size, T(rows.first));
      return;
    case InitialRows::Kind::kTruncatedNormal:
      for (size_t k = 0; k < keys.size(); ++k) {
        FillTruncated(rows, philox, keys[k], size, typed[k]);
      }
      return;
    case InitialRows::Kind::kUniform:
    case InitialRows::Kind::kNormal:
      FillEach(rows, philox, keys, size, typed);
  }
}

}  // namespace

void InitialRows::Fill(int64_t seed, absl::Span<const int64_t> keys, DataType dtype, int64_t size,
                       void* const* rows) const {
  if (keys.empty()) return;  // the most frequent case: all keys of a lookup have rows
  if (dtype == DT_FLOAT) FillTyped<float>(*this, seed, keys, size, rows);
  if (dtype == DT_HALF) FillTyped<half>(*this, seed, keys, size, rows);
  if (dtype == DT_BFLOAT16) FillTyped<bfloat16>(*this, seed, keys, size, rows);
}

}  // namespace sluice
