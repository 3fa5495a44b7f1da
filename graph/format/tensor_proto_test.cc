#include "graph/format/tensor_proto.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "graph/format/text.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

pb::TensorProto Proto(std::string_view text) {
  pb::TensorProto proto;
  EXPECT_TRUE(ParseText(text, &proto).ok()) << text;
  return proto;
}

template <typename T>
std::vector<T> Values(std::string_view text) {
  absl::StatusOr<Tensor> t = TensorFromProto(Proto(text));
  EXPECT_TRUE(t.ok()) << t.status();
  if (!t.ok()) return {};
  return std::vector<T>(t->data<T>(), t->data<T>() + t->num_elements());
}

std::string Refusal(std::string_view text) {
  return std::string(TensorFromProto(Proto(text)).status().message());
}

// The text of TensorToProto's result. Also checks that reading it returns the tensor.
std::string Written(const Tensor& tensor) {
  pb::TensorProto proto;
  EXPECT_TRUE(TensorToProto(tensor, &proto).ok());
  absl::StatusOr<Tensor> again = TensorFromProto(proto);
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->ToString(), tensor.ToString());
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(proto, &text);
  return text;
}

TEST(TensorProto, ContentIsRawBytes) {
  EXPECT_THAT(Values<float>(R"(dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
                               tensor_content: "\000\000\200\077\000\000\000\100")"),
              ElementsAre(1, 2));
}

TEST(TensorProto, ContentWinsOverValues) {
  EXPECT_THAT(Values<int8_t>(R"(dtype: DT_INT8 tensor_shape { dim { size: 2 } }
                                tensor_content: "\001\377" int_val: 5)"),
              ElementsAre(1, -1));
}

TEST(TensorProto, ContentOfBoolsIsNormalised) {
  EXPECT_THAT(Values<bool>(R"(dtype: DT_BOOL tensor_shape { dim { size: 3 } }
                              tensor_content: "\000\001\002")"),
              ElementsAre(false, true, true));
}

TEST(TensorProto, TheLastValueFillsTheRest) {
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: [1, 2]"),
              ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(Values<complex64>(
                  "dtype: DT_COMPLEX64 tensor_shape { dim { size: 2 } } scomplex_val: [1, 2]"),
              ElementsAre(complex64(1, 2), complex64(1, 2)));
  EXPECT_THAT(
      Values<std::string>("dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'ab'"),
      ElementsAre("ab", "ab"));
}

TEST(TensorProto, NoValuesAreZeros) {
  EXPECT_THAT(Values<int32_t>("dtype: DT_INT32 tensor_shape { dim { size: 2 } }"),
              ElementsAre(0, 0));
  EXPECT_THAT(Values<std::string>("dtype: DT_STRING tensor_shape { }"), ElementsAre(""));
}

TEST(TensorProto, ValuesBeyondTheShapeAreIgnored) {
  EXPECT_THAT(Values<int64_t>("dtype: DT_INT64 tensor_shape {} int64_val: [3, 4]"), ElementsAre(3));
}

TEST(TensorProto, SmallTypesShareIntVal) {
  const char* shape = "tensor_shape { dim { size: 2 } } int_val: [-1, 3]";
  EXPECT_THAT(Values<int16_t>(StrCat("dtype: DT_INT16 ", shape)), ElementsAre(-1, 3));
  EXPECT_THAT(Values<uint8_t>(StrCat("dtype: DT_UINT8 ", shape)), ElementsAre(255, 3));
  EXPECT_THAT(Values<int32_t>(StrCat("dtype: DT_QINT32 ", shape)), ElementsAre(-1, 3));
  EXPECT_THAT(Values<uint16_t>(StrCat("dtype: DT_QUINT16 ", shape)), ElementsAre(65535, 3));
  EXPECT_THAT(Values<int8_t>(StrCat("dtype: DT_INT4 ", shape)), ElementsAre(-1, 3));
}

TEST(TensorProto, HalvesAreBits) {
  absl::StatusOr<Tensor> t =
      TensorFromProto(Proto("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: [15360]"));
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(static_cast<float>(t->data<half>()[1]), 1.0f);
  t = TensorFromProto(Proto("dtype: DT_BFLOAT16 tensor_shape {} half_val: 16256"));
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(static_cast<float>(t->scalar<bfloat16>()), 1.0f);
}

TEST(TensorProto, WritesAsPythonDoes) {
  EXPECT_EQ(Written(Tensor::Scalar(1.5f)), "dtype: DT_FLOAT tensor_shape { } float_val: 1.5 ");
  EXPECT_EQ(Written(Tensor::Vector<int32_t>({1, 2})),
            "dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
            "tensor_content: \"\\001\\000\\000\\000\\002\\000\\000\\000\" ");
  EXPECT_EQ(Written(Tensor::Vector<bool>({true, false})),
            "dtype: DT_BOOL tensor_shape { dim { size: 2 } } bool_val: true bool_val: false ");
  EXPECT_EQ(
      Written(Tensor::Vector<std::string>({"a", "b"})),
      "dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: \"a\" string_val: \"b\" ");
  EXPECT_EQ(Written(Tensor(DT_FLOAT, {0})), "dtype: DT_FLOAT tensor_shape { dim { } } ");
  EXPECT_EQ(Written(Tensor::Scalar(complex128(1, 2))),
            "dtype: DT_COMPLEX128 tensor_shape { } dcomplex_val: 1 dcomplex_val: 2 ");
}

TEST(TensorProto, ManyEqualElementsAreWrittenAsOne) {
  Tensor numbers(DT_FLOAT, {100});
  std::fill_n(numbers.data<float>(), 100, 0.1f);
  EXPECT_EQ(Written(numbers), "dtype: DT_FLOAT tensor_shape { dim { size: 100 } } float_val: 0.1 ");
  // Zeros of both signs are equal numbers, but not the same bits.
  std::fill_n(numbers.data<float>(), 100, 0.0f);
  numbers.data<float>()[99] = -0.0f;
  EXPECT_THAT(Written(numbers), HasSubstr("tensor_content"));
  Tensor flags(DT_BOOL, {100});
  std::fill_n(flags.data<bool>(), 100, true);
  EXPECT_EQ(Written(flags), "dtype: DT_BOOL tensor_shape { dim { size: 100 } } bool_val: true ");
}

TEST(TensorProto, EveryPlainTypeGoesThroughBothForms) {
  for (int type = 1; type < kDataTypeCount; ++type) {
    const DataType dtype = static_cast<DataType>(type);
    if (!IsPlainBytes(dtype)) continue;
    for (int64_t n : {1, 3, 70}) {
      Tensor t(dtype, {n});
      // If there are 70 elements, all of them are equal.
      const size_t period = n == 70 ? t.bytes() / n : t.bytes();
      for (size_t i = 0; i < t.bytes(); ++i) {
        t.data<char>()[i] = dtype == DT_BOOL ? i % period % 2 : i % period + 1;
      }
      for (auto write : {TensorToProto, TensorToContentProto}) {
        pb::TensorProto proto;
        ASSERT_TRUE(write(t, &proto).ok());
        absl::StatusOr<Tensor> again = TensorFromProto(proto);
        ASSERT_TRUE(again.ok()) << DataTypeName(dtype) << again.status();
        EXPECT_EQ(std::string(again->data<char>(), again->bytes()),
                  std::string(t.data<char>(), t.bytes()))
            << DataTypeName(dtype);
      }
    }
  }
}

TEST(TensorProto, HandlesKeepTheirFields) {
  const std::string text = R"(dtype: DT_RESOURCE tensor_shape {}
    resource_handle_val { device: "/cpu:0" container: "c" name: "v" hash_code: 9 maybe_type_name: "t"
      dtypes_and_shapes { dtype: DT_FLOAT shape { dim { size: -1 } } } })";
  absl::StatusOr<Tensor> t = TensorFromProto(Proto(text));
  ASSERT_TRUE(t.ok());
  pb::TensorProto again;
  ASSERT_TRUE(TensorToProto(*t, &again).ok());
  EXPECT_EQ(again.DebugString(), Proto(text).DebugString());
}

TEST(TensorProto, UndecodedVariantsPassThrough) {
  const std::string text = R"(dtype: DT_VARIANT tensor_shape {}
    variant_val { type_name: "T" metadata: "m" tensors { dtype: DT_INT32 tensor_shape {} int_val: 1 } })";
  absl::StatusOr<Tensor> t = TensorFromProto(Proto(text));
  ASSERT_TRUE(t.ok());
  pb::TensorProto again;
  ASSERT_TRUE(TensorToProto(*t, &again).ok());
  EXPECT_EQ(again.DebugString(), Proto(text).DebugString());
}

TEST(TensorProto, HostileShapesAreRefused) {
  EXPECT_THAT(Refusal("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } }"),
              HasSubstr("shape [4611686018427387904] is larger than allowed"));
  EXPECT_THAT(
      Refusal("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }"),
      HasSubstr("has too many elements"));
  EXPECT_THAT(Refusal("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"),
              HasSubstr("Dimension -1 must be >= 0"));
  EXPECT_THAT(Refusal("dtype: DT_FLOAT tensor_shape { unknown_rank: true }"), HasSubstr("no rank"));
  EXPECT_THAT(Refusal("dtype: DT_INVALID tensor_shape { }"), HasSubstr("type 0"));
  EXPECT_THAT(Refusal("dtype: DT_FLOAT_REF tensor_shape { }"), HasSubstr("type 101"));
  pb::TensorProto proto = Proto("dtype: DT_FLOAT");
  for (int i = 0; i < 300; ++i) proto.mutable_tensor_shape()->add_dim()->set_size(1);
  EXPECT_THAT(std::string(TensorFromProto(proto).status().message()), HasSubstr("got 300"));
}

TEST(TensorProto, ContentOfTheWrongLengthIsRefused) {
  EXPECT_EQ(Refusal("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abc'"),
            "tensor_content has 3 bytes, expected 8 for float [2]");
  EXPECT_THAT(Refusal("dtype: DT_STRING tensor_shape { } tensor_content: 'abc'"),
              HasSubstr("does not hold 1 strings"));
  EXPECT_THAT(Refusal("dtype: DT_RESOURCE tensor_shape { } tensor_content: 'abc'"),
              HasSubstr("which is for numbers and strings"));
}

TEST(TensorProto, StringsMayComeAsLengthsAndBytes) {
  absl::StatusOr<Tensor> tensor = TensorFromProto(
      Proto("dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '\\001\\002xyy'"));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->data<std::string>()[0], "x");
  EXPECT_EQ(tensor->data<std::string>()[1], "yy");
  for (const char* damaged :
       {"\\001\\003xyy", "\\001\\001xyy", "\\377\\377\\377\\377\\017xyy", "\\001"}) {
    EXPECT_THAT(
        Refusal(StrCat("dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '",
                       damaged, "'")),
        HasSubstr("does not hold 2 strings"));
  }
}

TEST(TensorProto, TheBudgetIsForAllTensorsTogether) {
  FormatLimits limits;
  limits.max_total_bytes = 100;
  FormatBudget budget(limits);
  const pb::TensorProto sixty = Proto("dtype: DT_FLOAT tensor_shape { dim { size: 15 } }");
  EXPECT_TRUE(TensorFromProto(sixty, budget).ok());
  EXPECT_THAT(std::string(TensorFromProto(sixty, budget).status().message()),
              HasSubstr("larger than allowed"));
}

TEST(ShapeProto, KnownAndUnknownSizes) {
  for (const char* text : {"unknown_rank: true", "", "dim { size: -1 } dim { size: 3 }"}) {
    pb::TensorShapeProto proto;
    ASSERT_TRUE(ParseText(text, &proto).ok());
    absl::StatusOr<PartialShape> shape = ShapeFromProto(proto);
    ASSERT_TRUE(shape.ok());
    pb::TensorShapeProto again;
    ShapeToProto(*shape, &again);
    EXPECT_EQ(again.DebugString(), proto.DebugString());
  }
}

TEST(ShapeProto, ImpossibleShapesAreRefused) {
  auto refusal = [](const char* text) {
    pb::TensorShapeProto proto;
    EXPECT_TRUE(ParseText(text, &proto).ok());
    return std::string(ShapeFromProto(proto).status().message());
  };
  EXPECT_EQ(refusal("dim { size: -2 }"), "Shape has a dimension of negative size -2");
  EXPECT_THAT(refusal("dim { size: 4611686018427387904 } dim { size: -1 } dim { size: 8 }"),
              HasSubstr("too large"));
  EXPECT_THAT(refusal("unknown_rank: true dim { size: 1 }"), HasSubstr("unknown shape"));
}

}  // namespace
}  // namespace sluice
