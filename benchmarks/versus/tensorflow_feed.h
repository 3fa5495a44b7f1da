// Makes the same feed values as graphs/feed.h, for the programs that run TensorFlow.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"

namespace tf = tensorflow;
inline std::vector<std::string> Split(const std::string& s, char d) {
  std::vector<std::string> out;
  if (s == "-" || s.empty()) return out;
  std::stringstream ss(s);
  for (std::string t; std::getline(ss, t, d);) out.push_back(t);
  return out;
}
// Number i of the sequence of uniform numbers for feed number `feed` (graphs/feed.h).
inline double U01(uint64_t feed, uint64_t i) {
  uint64_t z = ((feed + 1) << 32) + i;
  z = (z + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return (double)(z >> 11) * (1.0 / 9007199254740992.0);
}
inline double Gen(const std::string& kind, double arg, uint64_t feed, uint64_t i) {
  if (kind == "const") return arg;
  if (kind == "uniform") return std::floor(U01(feed, i) * arg);
  if (kind == "zipf")
    return std::min(arg - 1, std::floor(std::exp(U01(feed, i) * std::log(arg + 1))) - 1);
  double u1 = U01(feed, 2 * i), u2 = U01(feed, 2 * i + 1);
  return std::sqrt(-2 * std::log(1 - u1)) * std::cos(6.283185307179586 * u2);
}
inline tf::Tensor MakeFeed(const std::string& spec, uint64_t feed) {
  size_t c1 = spec.find(':'), c2 = spec.find(':', c1 + 1);
  std::string dt = spec.substr(0, c1), gen = spec.substr(c2 + 1),
              kind = gen.substr(0, gen.find('('));
  double arg = gen.find('(') == std::string::npos ? 0 : std::stod(gen.substr(gen.find('(') + 1));
  tf::TensorShape shape;
  for (auto& d : Split(spec.substr(c1 + 1, c2 - c1 - 1), 'x')) shape.AddDim(std::stoll(d));
  tf::Tensor t(dt == "f32" ? tf::DT_FLOAT : dt == "i32" ? tf::DT_INT32 : tf::DT_INT64, shape);
  int64_t n = t.NumElements();
  if (kind == "onehot") {
    float* p = t.flat<float>().data();
    int64_t k = (int64_t)arg, rows = n / k;
    std::fill(p, p + n, 0.f);
    for (int64_t r = 0; r < rows; r++) p[r * k + (int64_t)std::floor(U01(feed, r) * k)] = 1.f;
    return t;
  }
  for (int64_t i = 0; i < n; i++) {
    double v = Gen(kind, arg, feed, i);
    if (dt == "f32")
      t.flat<float>()(i) = (float)v;
    else if (dt == "i32")
      t.flat<tf::int32>()(i) = (tf::int32)v;
    else
      t.flat<int64_t>()(i) = (int64_t)v;
  }
  return t;
}
