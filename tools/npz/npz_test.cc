#include "tools/npz/npz.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A .npy file of version 1 as NumPy writes it.
std::string Npy(const std::string& header, const std::string& data) {
  std::string text = header + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}

std::string Int16s(std::initializer_list<int16_t> values) {
  std::string bytes(values.size() * 2, '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

TEST(Npy, ReadsRowMajor) {
  const auto array = ParseNpy(Npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                                  Int16s({1, 2, 3, 4, 5, 6})));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type, "i2");
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_EQ(array->bytes, Int16s({1, 2, 3, 4, 5, 6}));
}

TEST(Npy, TurnsColumnMajorIntoRowMajor) {
  const auto array = ParseNpy(Npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                                  Int16s({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->bytes, Int16s({1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ScalarsAndEmptyArraysHaveTheirShapes) {
  const auto scalar =
      ParseNpy(Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\x01"));
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_THAT(scalar->shape, ElementsAre());
  const auto empty =
      ParseNpy(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 4), }", ""));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(empty->shape, ElementsAre(0, 4));
}

TEST(Npy, WritesWhatItReads) {
  for (const NpyArray& array : {NpyArray{"f4", {2, 1}, "12345678"}, NpyArray{"S3", {2}, "abcde\0"},
                                NpyArray{"b1", {}, "\x01"}, NpyArray{"u1", {3}, "xyz"}}) {
    NpyArray given = array;
    given.bytes.resize(given.type == "S3" ? 6 : given.bytes.size());
    const std::string content = FormatNpy(given);
    EXPECT_EQ((content.size() - given.bytes.size()) % 64, 0u);
    const auto again = ParseNpy(content);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->type, given.type);
    EXPECT_EQ(again->shape, given.shape);
    EXPECT_EQ(again->bytes, given.bytes);
  }
}

std::string ErrorOf(const std::string& content) {
  return std::string(ParseNpy(content).status().message());
}

TEST(Npy, BadBytesAreErrors) {
  EXPECT_EQ(ErrorOf("PK"), "not a .npy file");
  EXPECT_EQ(ErrorOf(std::string("\x93NUMPY\x09\x00", 8)), ".npy version 9 is not known");
  EXPECT_EQ(ErrorOf(std::string("\x93NUMPY\x01\x00\xff\x00", 10)), "the header is cut off");
  EXPECT_EQ(ErrorOf(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "1234")),
            "shape (3) of 'f4' does not fit 4 bytes");
  EXPECT_THAT(ErrorOf(Npy("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (4611686018427387904, 4), }",
                          "")),
              HasSubstr("does not fit 0 bytes"));
  EXPECT_EQ(ErrorOf(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (), }", "x")),
            "holds Python objects; save strings with dtype 'S' or 'U' instead");
  EXPECT_EQ(ErrorOf(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "")),
            "size '-1' is not a number");
  EXPECT_EQ(ErrorOf(Npy("{'descr': '>f4', 'fortran_order': False, 'shape': (), }", "1234")),
            "big-endian arrays are not read");
  EXPECT_EQ(ErrorOf(Npy("{'descr': '<f3', 'fortran_order': False, 'shape': (), }", "123")),
            "type '<f3' is not read");
}

TEST(Npz, ArraysComeBackByName) {
  const std::string path = testing::TempDir() + "/arrays.npz";
  const std::map<std::string, NpyArray> arrays = {
      {"x:0", {"i4", {2}, "12345678"}},
      {"scope/y:1", {"f8", {}, "abcdefgh"}},
  };
  ASSERT_TRUE(WriteNpz(path, arrays).ok());
  const auto again = ReadNpz(path);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->size(), 2u);
  EXPECT_EQ(again->at("x:0").bytes, "12345678");
  EXPECT_EQ(again->at("scope/y:1").type, "f8");
}

TEST(Npz, AFileWithoutArraysIsValid) {
  const std::string path = testing::TempDir() + "/empty.npz";
  ASSERT_TRUE(WriteNpz(path, {}).ok());
  const auto again = ReadNpz(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->empty());
}

TEST(Npz, AbsentAndForeignFilesAreErrors) {
  EXPECT_EQ(ReadNpz("/nowhere/x.npz").status().message(),
            "'/nowhere/x.npz' cannot be opened as a .npz file");
  EXPECT_EQ(WriteNpz("/nowhere/x.npz", {}).message(), "'/nowhere/x.npz' cannot be written");
}

}  // namespace
}  // namespace sluice
