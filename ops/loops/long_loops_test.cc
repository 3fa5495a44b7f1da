// Loops over more elements than a tile has must give the same results as shorter loops. This
// concerns whole chunks, the elements after the last chunk, and rows one after another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "executor/session/session.h"
#include "ops/array/builders.h"
#include "ops/math/builders.h"
#include "ops/nn/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// Sanitizers prevent the vectorisation of loops over arrays, but the elements after the last whole
// vector are still computed as a vector, in a separate block. The vector library rounds differently
// from the scalar functions that the loops then call.
#if defined(__SANITIZE_ADDRESS__) || defined(SLUICE_NO_TARGET_CLONES)
constexpr double kRounding = 1e-6;
#else
constexpr double kRounding = 0;  // results must have the same bits
#endif

template <typename T>
bool IsSame(T x, T y) {
  if (std::memcmp(&x, &y, sizeof x) == 0) return true;
  return kRounding > 0 && std::abs(static_cast<double>(x) - static_cast<double>(y)) <=
                              kRounding * (1 + std::abs(static_cast<double>(y)));
}

// Compares n elements.
bool AreSame(const void* x, const void* y, int64_t n, DataType dtype) {
  for (int64_t i = 0; i < n; ++i) {
    const bool is_same =
        dtype == DT_DOUBLE
            ? IsSame(static_cast<const double*>(x)[i], static_cast<const double*>(y)[i])
            : IsSame(static_cast<const float*>(x)[i], static_cast<const float*>(y)[i]);
    if (!is_same) return false;
  }
  return true;
}

// Sizes near those of a tile of 4 KB of floats or of bytes, and a few larger ones.
const int64_t kSizes[] = {1023, 1024, 1025, 1087, 1088, 1279, 2048, 2049, 4095, 4096, 4359, 9001};
constexpr int64_t kPeriod = 199;  // no two chunks begin alike

// Returns a tensor of numbers with period kPeriod.
Tensor Numbers(const TensorShape& shape, double scale) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>(scale * static_cast<double>(i % kPeriod - 90));
  }
  return t;
}

using Build = std::function<Output(const Output& x, const Output& y)>;

Tensor ResultOf(const Build& build, const Tensor& x, const Tensor& y) {
  Graph g;
  const Output px = Placeholder(g, DT_FLOAT, PartialShape());
  const Output py = Placeholder(g, DT_FLOAT, PartialShape());
  const Output result = build(px, py);
  Session session(g);
  const absl::StatusOr<Tensors> out = session.Run({{px, x}, {py, y}}, {result});
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? out->at(0) : Tensor();
}

Tensor Beginning(const Tensor& t) {
  Tensor beginning(DT_FLOAT, TensorShape({std::min(t.num_elements(), kPeriod)}));
  std::memcpy(beginning.raw(), t.raw(), beginning.bytes());
  return beginning;
}

// Checks that the result has the same bits in each period, because `x` and `y` are periodic or have
// one element.
void ExpectAsShortLoops(const Build& build, const Tensor& x, const Tensor& y) {
  const Tensor all = ResultOf(build, x, y);
  const Tensor beginning = ResultOf(build, Beginning(x), Beginning(y));
  const int64_t n = x.num_elements();
  ASSERT_EQ(all.num_elements(), n);
  ASSERT_EQ(beginning.num_elements(), kPeriod);
  const auto is_same = [&](int64_t i) {
    const int64_t k = i % kPeriod;
    if (all.dtype() == DT_BOOL) return all.data<bool>()[i] == beginning.data<bool>()[k];
    return IsSame(all.data<float>()[i], beginning.data<float>()[k]);
  };
  int64_t i = 0;
  while (i < n && is_same(i)) ++i;
  EXPECT_EQ(i, n);
}

TEST(LongLoops, OfOneOperand) {
  for (const int64_t n : kSizes) {
    const Tensor x = Numbers(TensorShape({n}), 0.1);
    const auto check = [&](Output (*op)(Output)) {
      ExpectAsShortLoops([op](const Output& a, const Output&) { return op(a); }, x, x);
    };
    check([](Output a) { return Neg(a); });
    check([](Output a) { return Square(a) + 1.0f; });  // the sum is computed in place
    check([](Output a) { return Exp(a); });
    check([](Output a) { return Sigmoid(a); });
    check([](Output a) { return Relu(a); });
  }
}

// Functions of the vector library, which rounds differently from the scalar functions.
const std::pair<const char*, Build> kFunctions[] = {
    {"exp", [](const Output& a, const Output&) { return Exp(a); }},
    {"sigmoid", [](const Output& a, const Output&) { return Sigmoid(a); }},
    {"tanh", [](const Output& a, const Output&) { return Tanh(a); }},
    {"log", [](const Output& a, const Output&) { return Log(Abs(a)); }},
    {"log1p", [](const Output& a, const Output&) { return Log1p(Abs(a)); }},
    {"expm1", [](const Output& a, const Output&) { return Expm1(a); }},
    {"erf", [](const Output& a, const Output&) { return Erf(a); }},
    {"erfc", [](const Output& a, const Output&) { return Erfc(a); }},
    {"sin", [](const Output& a, const Output&) { return Sin(a); }},
    {"cos", [](const Output& a, const Output&) { return Cos(a); }},
    {"tan", [](const Output& a, const Output&) { return Tan(a); }},
    {"atan", [](const Output& a, const Output&) { return Atan(a); }},
    {"sinh", [](const Output& a, const Output&) { return Sinh(a); }},
    {"cosh", [](const Output& a, const Output&) { return Cosh(a); }},
    {"asinh", [](const Output& a, const Output&) { return Asinh(a); }},
    {"elu", [](const Output& a, const Output&) { return Elu(a); }},
    {"selu", [](const Output& a, const Output&) { return Selu(a); }},
    {"softplus", [](const Output& a, const Output&) { return Softplus(a); }},
    {"pow", [](const Output& a, const Output& b) { return Pow(Abs(a), b); }},
    {"atan2", [](const Output& a, const Output& b) { return Atan2(a, b); }},
    {"xlogy", [](const Output& a, const Output& b) { return Xlogy(a, Abs(b)); }},
};

Tensor From(const Tensor& t, int64_t begin, int64_t n) {
  Tensor part(DT_FLOAT, TensorShape({n}));
  std::memcpy(part.raw(), t.data<float>() + begin, part.bytes());
  return part;
}

TEST(LongLoops, BitsDoNotDependOnWhereAnElementLies) {
  constexpr int64_t kAll = 83;
  const Tensor x = Numbers(TensorShape({kAll}), 0.0371), y = Numbers(TensorShape({kAll}), -0.0271);
  for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
    for (const auto& [name, function] : kFunctions) {
      const Build build = [&](const Output& a, const Output& b) {
        return function(Cast(a, dtype), Cast(b, dtype));
      };
      const Tensor all = ResultOf(build, x, y);
      for (const int64_t n : {1, 2, 7, 15, 17, 31}) {
        for (int64_t begin = 0; begin + n <= kAll; begin += n) {
          const Tensor part = ResultOf(build, From(x, begin, n), From(y, begin, n));
          const size_t size = DataTypeSize(dtype);
          ASSERT_EQ(part.bytes(), n * size);
          const char* const expected = static_cast<const char*>(all.raw()) + begin * size;
          ASSERT_TRUE(AreSame(part.raw(), expected, n, dtype))
              << name << " of " << DataTypeName(dtype) << "s from " << begin << ", " << n;
        }
      }
    }
  }
}

TEST(LongLoops, OfTwoOperands) {
  for (const int64_t n : kSizes) {
    const Tensor x = Numbers(TensorShape({n}), 0.1), y = Numbers(TensorShape({n}), -0.3);
    ExpectAsShortLoops([](const Output& a, const Output& b) { return a + b; }, x, y);
    ExpectAsShortLoops([](const Output& a, const Output& b) { return Less(a, b); }, x, y);
    const Tensor three = Tensor::Vector<float>({3});
    ExpectAsShortLoops([](const Output& a, const Output& b) { return a * b; }, x, three);
    ExpectAsShortLoops([](const Output& a, const Output& b) { return Less(b, a); }, x, three);
  }
}

TEST(LongLoops, OfRowsThatMeetAVectorOrAColumn) {
  for (const int64_t width : {3, 100, 1024, 1030, 2500}) {
    constexpr int64_t kRows = 37;
    const Tensor x = Numbers(TensorShape({kRows, width}), 0.1);
    const Tensor row = Numbers(TensorShape({width}), 2), column = Numbers({kRows, 1}, 3);
    const Tensor with_row =
        ResultOf([](const Output& a, const Output& b) { return a + b; }, x, row);
    const Tensor with_column =
        ResultOf([](const Output& a, const Output& b) { return b - a; }, x, column);
    ASSERT_EQ(with_row.num_elements(), kRows * width);
    ASSERT_EQ(with_column.num_elements(), kRows * width);
    for (int64_t i = 0; i < kRows * width; ++i) {
      const float element = x.data<float>()[i];
      ASSERT_EQ(with_row.data<float>()[i], element + row.data<float>()[i % width]) << i;
      ASSERT_EQ(with_column.data<float>()[i], column.data<float>()[i / width] - element) << i;
    }
  }
}

// Every second loop on a thread runs backwards (AlternateDirection).
TEST(LongLoops, ToAndFro) {
  constexpr int64_t kRows = 301, kWidth = 1003, kAll = kRows * kWidth;
  const Tensor x = Numbers({kRows, kWidth}, 0.1), y = Numbers({kRows, kWidth}, -0.3);
  const Tensor row = Numbers(TensorShape({kWidth}), 2), column = Numbers({kRows, 1}, 3);
  for (int round = 0; round < 4; ++round) {
    const Build add = [](const Output& a, const Output& b) { return a + b; };
    const Build square_of = [](const Output& a, const Output&) { return Square(a); };
    const Tensor sum = ResultOf(add, x, y), with_row = ResultOf(add, x, row),
                 with_column = ResultOf(add, x, column), square = ResultOf(square_of, x, x);
    for (int64_t i = 0; i < kAll; ++i) {
      const float element = x.data<float>()[i];
      ASSERT_EQ(sum.data<float>()[i], element + y.data<float>()[i]) << i;
      ASSERT_EQ(with_row.data<float>()[i], element + row.data<float>()[i % kWidth]) << i;
      ASSERT_EQ(with_column.data<float>()[i], element + column.data<float>()[i / kWidth]) << i;
      ASSERT_EQ(square.data<float>()[i], element * element) << i;
    }
  }
}

// For 8 MB, a fused group prefetches its next tile, even after the last one.
TEST(LongLoops, OfFusedNodesOverMoreThanTheCaches) {
  const int64_t n = (2 << 20) + 77;
  const Tensor x = Numbers(TensorShape({n}), 0.1), y = Numbers(TensorShape({n}), -0.3);
  const Tensor z =
      ResultOf([](const Output& a, const Output& b) { return Maximum(a * b, a + 0.5f) - b; }, x, y);
  ASSERT_EQ(z.num_elements(), n);
  int64_t i = 0;
  for (; i < n; ++i) {
    const float a = x.data<float>()[i], b = y.data<float>()[i];
    if (z.data<float>()[i] != std::max(a * b, a + 0.5f) - b) break;
  }
  EXPECT_EQ(i, n);
}

// The loop for sums has 16 lanes, and that for maxima 16 or 64.
TEST(LongLoops, OfSoftmax) {
  for (const int64_t width : {1, 7, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 1024, 5000}) {
    constexpr int64_t kRows = 3;
    const Tensor x = Numbers(TensorShape({kRows, width}), 0.2);
    const Tensor y = ResultOf([](const Output& a, const Output&) { return Softmax(a); }, x, x);
    ASSERT_EQ(y.num_elements(), kRows * width);
    for (int64_t r = 0; r < kRows; ++r) {
      const float* row = x.data<float>() + r * width;
      const float max = *std::max_element(row, row + width);
      double sum = 0;
      for (int64_t i = 0; i < width; ++i) sum += std::exp(row[i] - max);
      for (int64_t i = 0; i < width; ++i) {
        const double exact = std::exp(row[i] - max) / sum;
        ASSERT_NEAR(y.data<float>()[r * width + i], exact, 1e-6 * exact + 1e-38)
            << "element " << i << " of " << width;
      }
    }
  }
}

// Elements of results of more than 32 MB. For those, stores that bypass the caches are faster on
// some processors.
constexpr int64_t kFarAway = 9 << 20;

TEST(LongLoops, OfWhatNoCacheKeeps) {
  const Tensor x = Numbers(TensorShape({kFarAway + 1003}), 0.1);
  const Tensor y = Numbers(x.shape(), -0.3), three = Tensor::Vector<float>({3});
  ExpectAsShortLoops([](const Output& a, const Output&) { return Neg(a); }, x, y);
  ExpectAsShortLoops([](const Output& a, const Output&) { return Sigmoid(a); }, x, y);
  ExpectAsShortLoops([](const Output& a, const Output& b) { return a + b; }, x, y);
  ExpectAsShortLoops([](const Output& a, const Output& b) { return a * b; }, x, three);
  ExpectAsShortLoops([](const Output& a, const Output& b) { return Exp(a) * b + Tanh(b); }, x, y);
}

// Returns rows [begin, end) of a matrix.
Tensor Rows(const Tensor& t, int64_t begin, int64_t end) {
  Tensor rows(DT_FLOAT, TensorShape({end - begin, t.shape().dim(1)}));
  std::memcpy(rows.raw(), t.data<float>() + begin * t.shape().dim(1), rows.bytes());
  return rows;
}

TEST(LongLoops, OfRowsThatNoCacheKeeps) {
  const Build builds[] = {
      [](const Output& a, const Output& b) { return a + b; },
      [](const Output& a, const Output& b) { return Exp(a * b) - a; },
      [](const Output& a, const Output&) { return Softmax(a); },
      [](const Output& a, const Output& b) { return Softmax(a * b); },
      [](const Output& a, const Output&) { return LogSoftmax(a); },
  };
  for (const int64_t width : {10, 1000, 1030}) {
    const int64_t rows = kFarAway / width;
    const Tensor x = Numbers(TensorShape({rows, width}), 0.01);
    const Tensor row = Numbers(TensorShape({width}), -0.3);
    for (const Build& build : builds) {
      const Tensor all = ResultOf(build, x, row);
      for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 57}, {rows - 33, rows}}) {
        const Tensor part = ResultOf(build, Rows(x, begin, end), row);
        const Tensor of_all = Rows(all, begin, end);
        ASSERT_EQ(part.bytes(), of_all.bytes());
        EXPECT_TRUE(AreSame(part.raw(), of_all.raw(), part.num_elements(), DT_FLOAT)) << width;
      }
    }
    const Tensor column = Numbers(TensorShape({rows, 1}), 3);
    const Tensor difference =
        ResultOf([](const Output& a, const Output& b) { return b - a; }, x, column);
    for (int64_t i = 0; i < rows * width; ++i) {
      ASSERT_EQ(difference.data<float>()[i], column.data<float>()[i / width] - x.data<float>()[i]);
    }
  }
}

}  // namespace
}  // namespace sluice
