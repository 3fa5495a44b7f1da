#include "graph/tensor/tensor.h"

#include <cmath>
#include <limits>

#include "graph/tensor/resource_handle.h"
#include "graph/tensor/room.h"
#include "graph/tensor/variant.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(Float16Test, HalfRoundsToNearestEvenAndKeepsSpecialValues) {
  EXPECT_EQ(half(1.0f).bits, 0x3c00);
  EXPECT_EQ(half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(half(65520.0f).bits, 0x7c00);            // rounds up to infinity
  EXPECT_EQ(half(65519.996f).bits, 0x7bff);          // just below
  EXPECT_EQ(half(1.0f + 1.0f / 2048).bits, 0x3c00);  // tie to even
  EXPECT_EQ(half(1.0f + 3.0f / 2048).bits, 0x3c02);  // tie to even
  EXPECT_EQ(half(5.9604645e-8f).bits, 0x0001);       // the smallest subnormal
  EXPECT_EQ(half(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(half(std::nanf("")))));
}

TEST(Float16Test, EveryHalfSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const half h = half::FromBits(static_cast<uint16_t>(bits));
    const float f = h;
    if (std::isnan(f)) continue;
    EXPECT_EQ(half(f).bits, bits);
  }
}

TEST(Float16Test, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(1.0f + 1.0f / 256).bits, 0x3f80);
  EXPECT_EQ(bfloat16(1.0f + 3.0f / 256).bits, 0x3f82);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(DataTypeTest, NamesGoBothWays) {
  for (int t = 1; t < kDataTypeCount; ++t) {
    const DataType type = static_cast<DataType>(t);
    EXPECT_EQ(DataTypeFromName(DataTypeName(type)), type);
    EXPECT_EQ(DataTypeFromName(DataTypeName(MakeRefType(type))), MakeRefType(type));
  }
  EXPECT_EQ(DataTypeFromName("DT_FLOAT"), DT_FLOAT);
  EXPECT_EQ(DataTypeFromName("float33"), DT_INVALID);
}

TEST(ShapeTest, MakeRefusesNegativeAndOverflowingSizes) {
  EXPECT_EQ(TensorShape::Make({2, 3})->num_elements(), 6);
  EXPECT_FALSE(TensorShape::Make({2, -1}).ok());
  EXPECT_FALSE(TensorShape::Make({int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_EQ(TensorShape::Make({0, int64_t{1} << 40, int64_t{1} << 40})->num_elements(), 0);
}

TEST(ShapeTest, TooManyElementsAreTheMostThatCanBeCounted) {
  TensorShape shape({int64_t{1} << 62, 4});
  EXPECT_EQ(shape.num_elements(), std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(Tensor::Allocate(Heap(), DT_FLOAT, shape).ok());
  shape.AddDim(0);
  EXPECT_EQ(shape.num_elements(), 0);
  shape.RemoveDim(2);
  EXPECT_EQ(shape.num_elements(), std::numeric_limits<int64_t>::max());
}

TEST(RoomTest, MoreThanThereIsIsRefused) {
  EXPECT_TRUE(CheckRoom(1000, 8, "rows").ok());
  EXPECT_EQ(CheckRoom(int64_t{1} << 60, 8, "rows").message(),
            "expected memory for 1152921504606846976 rows, got none");
}

TEST(ShapeTest, PartialShapesMergeAndPrint) {
  PartialShape a({-1, 3});
  EXPECT_EQ(a.ToString(), "[?,3]");
  EXPECT_EQ(a.MergeWith({2, -1})->ToString(), "[2,3]");
  EXPECT_FALSE(a.MergeWith({2, 4}).ok());
  EXPECT_FALSE(a.MergeWith({2, 3, 4}).ok());
  EXPECT_EQ(PartialShape().MergeWith(a)->ToString(), "[?,3]");
  EXPECT_EQ(PartialShape().ToString(), "<unknown>");
}

TEST(TensorTest, CopiesShareTheBufferAndClonesDoNot) {
  Tensor a = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(a.BufferIsUnique());
  Tensor b = a;
  EXPECT_FALSE(a.BufferIsUnique());
  EXPECT_TRUE(a.SharesBufferWith(b));
  Tensor c = *a.Clone();
  c.data<float>()[0] = 9;
  EXPECT_EQ(a.data<float>()[0], 1);
  EXPECT_FALSE(Tensor().Clone()->IsInitialized());
  EXPECT_EQ(Tensor(DT_FLOAT, {0, 2}).Clone()->shape(), TensorShape({0, 2}));
}

TEST(TensorTest, RowsAreSharedNotCopied) {
  Tensor a = Tensor::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor rows = a.SliceRows(1, 3);
  EXPECT_EQ(rows.shape(), TensorShape({2, 2}));
  EXPECT_EQ(rows.data<int32_t>()[0], 3);
  EXPECT_TRUE(rows.SharesBufferWith(a));
}

TEST(TensorTest, StringsAreConstructedAndDestroyed) {
  Tensor a(DT_STRING, {2});
  a.flat<std::string>()[1] = std::string(100, 'x');
  EXPECT_EQ(a.flat<std::string>()[0], "");
  EXPECT_EQ(a.SummarizeValues(1), "...");
}

TEST(TensorTest, ASliceIsASmallPartOfItsBuffer) {
  for (const DataType dtype : {DT_FLOAT, DT_STRING}) {
    const Tensor all(dtype, {100, 2});
    EXPECT_FALSE(IsSmallPartOfBuffer(all)) << DataTypeName(dtype);
    EXPECT_FALSE(IsSmallPartOfBuffer(all.SliceRows(0, 60))) << DataTypeName(dtype);
    EXPECT_TRUE(IsSmallPartOfBuffer(all.SliceRows(97, 99))) << DataTypeName(dtype);
  }
  EXPECT_FALSE(IsSmallPartOfBuffer(Tensor()));
}

TEST(TensorTest, TooLargeIsAStatus) {
  EXPECT_EQ(Tensor::Allocate(Heap(), DT_FLOAT, TensorShape({int64_t{1} << 62})).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorTest, WrappedMemoryIsReleasedOnce) {
  int released = 0;
  float values[2] = {1, 2};
  {
    Tensor t(DT_FLOAT, {2}, BufferRef(Buffer::Wrap(values, sizeof(values), [&] { ++released; })));
    Tensor copy = t;
    EXPECT_EQ(copy.data<float>()[1], 2);
    EXPECT_FALSE(t.BufferIsUnique());  // not owned, so not reusable
  }
  EXPECT_EQ(released, 1);
}

TEST(TensorTest, SummariesAreShortened) {
  EXPECT_EQ(Tensor::Vector<float>({1, 2.5, 3}).ToString(2), "Tensor<float, [3]: 1 2.5...>");
  EXPECT_EQ(Tensor::Scalar(true).ToString(), "Tensor<bool, []: 1>");
}

TEST(TensorTest, ASmallBufferStaysForTheNextValue) {
  const TensorShape two({2});
  Tensor t = Tensor::Vector<float>({1, 2});
  const void* const memory = t.raw();
  t.Retire();
  EXPECT_FALSE(t.IsInitialized());
  EXPECT_FALSE(t.Reuse(DT_INT32, two));  // made for another type
  EXPECT_FALSE(t.Reuse(DT_FLOAT, TensorShape()));
  EXPECT_TRUE(t.Reuse(DT_FLOAT, two));
  EXPECT_EQ(t.raw(), memory);
  EXPECT_EQ(t.num_elements(), 2);
  EXPECT_FALSE(t.Reuse(DT_FLOAT, two)) << "there is a value";

  const Tensor shared = t;
  t.Retire();
  EXPECT_FALSE(t.Reuse(DT_FLOAT, two)) << "somebody else holds it";
  EXPECT_EQ(shared.data<float>()[1], 2);

  Tensor large(DT_FLOAT, {1000});
  large.Retire();
  EXPECT_FALSE(large.Reuse(DT_FLOAT, {1000}));
  Tensor text = Tensor::Scalar("text");
  text.Retire();
  EXPECT_FALSE(text.Reuse(DT_STRING, TensorShape()));
}

TEST(TensorTest, AScalarTakesOverTheMemoryOfAnother) {
  Tensor from = Tensor::Scalar(1.5f);
  const void* const memory = from.raw();
  Tensor t = Tensor::Of<float>({1, 2}, {3, 4});
  EXPECT_FALSE(t.TakeOverScalar(DT_INT64, 8, from)) << "it is larger";
  ASSERT_TRUE(t.TakeOverScalar(DT_INT32, 4, from));
  EXPECT_EQ(t.raw(), memory);
  EXPECT_EQ(t.dtype(), DT_INT32);
  EXPECT_TRUE(t.shape().IsScalar());
  EXPECT_FALSE(from.buffer());

  const Tensor shared = t;
  EXPECT_FALSE(from.TakeOverScalar(DT_FLOAT, 4, t)) << "somebody else holds it";
  Tensor row = Tensor::Of<float>({2}, {5, 6}).SliceRows(1, 2).Reshaped(TensorShape());
  EXPECT_FALSE(from.TakeOverScalar(DT_FLOAT, 4, row)) << "a part of a larger one";
  float foreign = 7;
  Tensor wrapped(DT_FLOAT, TensorShape(), BufferRef(Buffer::Wrap(&foreign, 4, [] {})));
  EXPECT_FALSE(from.TakeOverScalar(DT_FLOAT, 4, wrapped)) << "not ours to reuse";
}

// A tensor that was moved from has a scalar's shape. Setting it to a scalar must still set the
// number of elements.
TEST(TensorTest, WhatWasMovedFromCanBeSetAgain) {
  Tensor moved = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor taken = std::move(moved);
  EXPECT_FALSE(moved.IsInitialized());  // NOLINT: that is the point
  const Tensor scalar = Tensor::Scalar(1.0f);
  moved.Reset(DT_FLOAT, TensorShape(), scalar.buffer());
  EXPECT_EQ(moved.num_elements(), 1);
  EXPECT_EQ(taken.num_elements(), 6);
}

struct Nested final : VariantObject {
  explicit Nested(Tensors own_values) : values(std::move(own_values)) {}
  std::string TypeName() const override { return "Nested"; }
  const Tensors values;
};

// The destruction of nested lists must not recurse, because the stack would overflow.
TEST(TensorTest, VariantsNestToAnyDepth) {
  const int64_t before = Heap().bytes_in_use();
  {
    Tensor outermost;
    for (int i = 0; i < 300'000; ++i) {
      Tensors values = {Tensor::Scalar(1.0f), std::move(outermost), Tensor::Scalar(2.0f)};
      outermost = Tensor::Scalar(Variant(std::make_shared<Nested>(std::move(values))));
    }
    EXPECT_GT(Heap().bytes_in_use(), before);
  }
  EXPECT_EQ(Heap().bytes_in_use(), before);
}

// The same for handles that own resources with further handles, such as arrays of arrays.
TEST(TensorTest, HandlesNestToAnyDepth) {
  const int64_t before = Heap().bytes_in_use();
  {
    Tensor outermost;
    for (int i = 0; i < 300'000; ++i) {
      ResourceHandle handle;
      handle.object = std::make_shared<Nested>(Tensors{std::move(outermost)});
      outermost = Tensor::Scalar(std::move(handle));
    }
    EXPECT_GT(Heap().bytes_in_use(), before);
  }
  EXPECT_EQ(Heap().bytes_in_use(), before);
}

}  // namespace
}  // namespace sluice
