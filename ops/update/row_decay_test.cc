// Steps that are done later and together must give the same bits as steps that are done one by one.
#include "ops/update/row_decay.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

// Does the steps one by one. Rounds after each operation.
template <typename T>
void OneByOne(const AdamHistory<T>& history, uint64_t from, uint64_t to, const AdamRow<T>& row) {
  for (uint64_t step = from; step < to; ++step) {
    const AdamNumbers<T> n = history.at(step);
    for (int64_t i = 0; i < row.size; ++i) {
      row.m[i] = row.m[i] * n.beta1;
      row.v[i] = row.v[i] * n.beta2;
      volatile T top = n.rate * row.m[i];
      volatile T bottom = std::sqrt(row.v[i]);
      bottom = bottom + n.epsilon;
      volatile T moved = top / bottom;
      row.var[i] = row.var[i] - moved;
    }
  }
}

template <typename T>
struct Row {
  std::vector<T> var, m, v;
  AdamRow<T> View() { return {var.data(), m.data(), v.data(), static_cast<int64_t>(var.size())}; }
};

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Regular numbers (kNothing), and the kinds of irregular numbers.
enum class Odd {
  kNothing,
  kNegativeRate,
  kOtherDecay,
  kOtherEpsilon,
  kGrowth,
  kInfiniteRate,
  kLast
};

template <typename T>
void AddSteps(AdamHistory<T>* history, uint64_t before, uint64_t steps, Odd odd, double rate) {
  double power1 = 1, power2 = 1;
  for (uint64_t s = 0; s < before + steps; ++s) {
    power1 *= 0.9;
    power2 *= 0.999;
    AdamNumbers<T> n = {static_cast<T>(rate * std::sqrt(1 - power2) / (1 - power1)), T(0.9),
                        T(0.999), T(1e-8)};
    const bool late = s > before + steps / 2;
    if (odd == Odd::kNegativeRate && s == before + steps / 2) n.rate = -n.rate;
    if (odd == Odd::kOtherDecay && s == before + steps / 3) n.beta1 = T(0.8);
    if (odd == Odd::kOtherEpsilon && late) n.epsilon = T(1e-4), n.rate *= 3;
    if (odd == Odd::kGrowth && s == before + 1) n.beta2 = T(1.5);
    if (odd == Odd::kInfiniteRate && late) n.rate = INFINITY;
    history->Add(n);
  }
}

template <typename T>
Row<T> RandomRow(std::mt19937& random) {
  std::normal_distribution<T> normal;
  const auto one_of = [&](unsigned n) { return random() % n == 0; };
  const T scale = std::pow(T(10), static_cast<T>(static_cast<int>(random() % 12) - 8));
  Row<T> row;
  for (size_t i = 0, n = 1 + random() % 130; i < n; ++i) {
    const T m = one_of(8) ? T(0) : normal(random) * T(0.01);
    row.var.push_back(one_of(10) ? T(0) : one_of(10) ? T(-0.0) : normal(random) * scale);
    row.m.push_back(one_of(100) ? std::numeric_limits<T>::denorm_min() * 3 : m);
    row.v.push_back(one_of(50) ? T(0) : m * m * std::abs(normal(random)));
    if (one_of(1000)) row.m.back() = INFINITY;
    if (one_of(1000)) row.v.back() = INFINITY;
    if (one_of(1000)) row.v.back() = -row.v.back();
  }
  return row;
}

template <typename T>
class RowDecay : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowDecay, Types);

TYPED_TEST(RowDecay, GivesTheBitsOfStepsDoneOneByOne) {
  using T = TypeParam;
  std::mt19937 random(7);
  for (int i = 0; i < 700; ++i) {
    AdamHistory<T> history;
    const uint64_t steps = i % 50 == 0 ? AdamHistory<T>::kLongest : random() % 600;
    const uint64_t before = random() % 9000;
    const auto odd = static_cast<Odd>(random() % static_cast<unsigned>(Odd::kLast));
    const double rate = std::pow(10.0, static_cast<double>(random() % 5) - 5);
    AddSteps(&history, before, steps, odd, rate);
    Row<T> later = RandomRow<T>(random), at_once = later;
    ReplayDecay<T>(history, before, before + steps, later.View());
    OneByOne<T>(history, before, before + steps, at_once.View());
    ASSERT_TRUE(SameBits(later.m, at_once.m) && SameBits(later.v, at_once.v)) << "row " << i;
    for (size_t k = 0; k < later.var.size(); ++k) {
      // The order of operands decides which NaN results.
      if (std::isnan(at_once.var[k]) && std::isnan(later.var[k])) continue;
      ASSERT_EQ(std::memcmp(&later.var[k], &at_once.var[k], sizeof(T)), 0)
          << "row " << i << ", element " << k << ": " << later.var[k] << ", " << at_once.var[k];
    }
  }
}

TYPED_TEST(RowDecay, PartsOfTheWayGiveTheSame) {
  using T = TypeParam;
  std::mt19937 random(8);
  AdamHistory<T> history;
  AddSteps(&history, 50, 1000, Odd::kNothing, 0.001);
  Row<T> whole = RandomRow<T>(random);
  for (T& v : whole.v) v = std::abs(v);
  Row<T> parts = whole;
  ReplayDecay<T>(history, 50, 1050, whole.View());
  for (uint64_t at = 50; at < 1050;) {
    const uint64_t next = std::min<uint64_t>(1050, at + 1 + random() % 300);
    ReplayDecay<T>(history, at, next, parts.View());
    at = next;
  }
  EXPECT_TRUE(SameBits(whole.m, parts.m) && SameBits(whole.v, parts.v));
  EXPECT_TRUE(SameBits(whole.var, parts.var));
}

}  // namespace
}  // namespace sluice
