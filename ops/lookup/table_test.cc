#include <cmath>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/lookup/dense_table.h"
#include "ops/lookup/hash_table.h"
#include "ops/lookup/text_table.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Keys(std::vector<int64_t> keys) { return Tensor::Vector<int64_t>(keys); }
Tensor Values(std::vector<float> values) { return Tensor::Vector<float>(values); }

std::vector<float> Find(const LookupTable& table, const Tensor& keys, float otherwise = -1) {
  Tensor values(DT_FLOAT, keys.shape());
  const absl::Status found = table.Find(keys, Tensor::Scalar(otherwise), &values);
  EXPECT_TRUE(found.ok()) << found;
  return {values.flat<float>().begin(), values.flat<float>().end()};
}

TableSpec Spec() { return {.name = "t", .key_type = DT_INT64, .value_type = DT_FLOAT}; }

std::shared_ptr<LookupTable> MakeDense(int64_t buckets = 4) {
  absl::StatusOr<std::shared_ptr<LookupTable>> table =
      DenseTable::Make({.spec = Spec(),
                        .empty_key = Tensor::Scalar<int64_t>(-1),
                        .deleted_key = Tensor::Scalar<int64_t>(-2),
                        .buckets = buckets,
                        .max_load_factor = 0.8f});
  EXPECT_TRUE(table.ok()) << table.status();
  return *table;
}

TEST(MutableHashTableTest, RowsOfRemovedKeysAreUsedAgain) {
  MutableHashTable table(Spec());
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(table.Insert(Keys({round, round + 1}), Values({1, 2})).ok());
    ASSERT_TRUE(table.Remove(Keys({round})).ok());
  }
  EXPECT_EQ(table.size(), 1);
  EXPECT_THAT(Find(table, Keys({49, 50})), ElementsAre(-1, 2));
}

TEST(HashTableTest, AFailedInitializationLeavesItWithoutContents) {
  HashTable table(Spec());
  EXPECT_TRUE(absl::IsFailedPrecondition(table.Initialize(Keys({1, 2, 1}), Values({1, 2, 3}))));
  EXPECT_EQ(table.size(), 0);
  ASSERT_TRUE(table.Initialize(Keys({1, 2, 1}), Values({5, 6, 5})).ok());
  EXPECT_THAT(Find(table, Keys({1, 2, 3})), ElementsAre(5, 6, -1));
}

// TensorFlow would insert the key into the free bucket, so that the table has it twice.
TEST(DenseTableTest, AKeyBehindARemovedOneStaysOne) {
  auto table = MakeDense(8);
  ASSERT_TRUE(table->Insert(Keys({1, 9}), Values({1, 9})).ok());  // both have the same bucket
  ASSERT_TRUE(table->Remove(Keys({1})).ok());
  ASSERT_TRUE(table->Insert(Keys({9}), Values({90})).ok());
  EXPECT_EQ(table->size(), 1);
  ASSERT_TRUE(table->Remove(Keys({9})).ok());
  EXPECT_THAT(Find(*table, Keys({9})), ElementsAre(-1));
}

// Attributes can request more buckets than there is memory for. A failed allocation was once
// written to.
TEST(DenseTableTest, MoreBucketsThanThereIsMemoryForAreRefused) {
  const auto make = [](int64_t buckets, float max_load_factor) {
    return DenseTable::Make({.spec = Spec(),
                             .empty_key = Tensor::Scalar<int64_t>(-1),
                             .deleted_key = Tensor::Scalar<int64_t>(-2),
                             .buckets = buckets,
                             .max_load_factor = max_load_factor});
  };
  EXPECT_TRUE(absl::IsResourceExhausted(make(int64_t{1} << 62, 0.8f).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(make(4, std::nanf("")).status()));
  const auto table = make(4, 1e-30f);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(absl::IsResourceExhausted((*table)->Insert(Keys({1}), Values({1}))));
  EXPECT_THAT(Find(**table, Keys({1})), ElementsAre(-1));
}

// Such buckets take no memory. The loop that fills them once did not end.
TEST(DenseTableTest, AnyNumberOfBucketsOfNothingIsRefused) {
  TableSpec spec = Spec();
  spec.value_shape = {0};
  const Tensor nothing(DT_INT64, {0});
  const auto table = DenseTable::Make({.spec = spec,
                                       .empty_key = nothing,
                                       .deleted_key = nothing,
                                       .buckets = int64_t{1} << 62,
                                       .max_load_factor = 0.8f});
  EXPECT_EQ(table.status().message(), "Empty and deleted keys cannot be equal");
}

TEST(DenseTableTest, GrowsAndKeepsItsKeys) {
  auto table = MakeDense();
  for (int64_t key = 0; key < 100; ++key) {
    ASSERT_TRUE(table->Insert(Keys({key}), Values({static_cast<float>(2 * key)})).ok());
  }
  EXPECT_EQ(table->size(), 100);
  EXPECT_THAT(Find(*table, Keys({0, 57, 99, 100})), ElementsAre(0, 114, 198, -1));
  EXPECT_EQ(table->Export()->keys.dim(0), 128);
}

TEST(DenseTableTest, WhatWasExportedCanBeImported) {
  auto table = MakeDense(), other = MakeDense();
  ASSERT_TRUE(table->Insert(Keys({3, 4, 5, 6, 7}), Values({3, 4, 5, 6, 7})).ok());
  ASSERT_TRUE(table->Remove(Keys({5})).ok());
  ASSERT_TRUE(other->Insert(Keys({8}), Values({8})).ok());
  absl::StatusOr<LookupTable::Contents> contents = table->Export();
  ASSERT_TRUE(other->Import(contents->keys, contents->values).ok());
  EXPECT_EQ(other->size(), 4);
  EXPECT_THAT(Find(*other, Keys({3, 5, 7, 8})), ElementsAre(3, -1, 7, -1));
  EXPECT_EQ(other->Export()->keys.dim(0), contents->keys.dim(0));
}

TEST(DenseTableTest, AFullTableOfRemovedKeysEndsItsSearch) {
  auto table = MakeDense();
  for (int64_t key = 0; key < 4; ++key) {
    ASSERT_TRUE(table->Insert(Keys({key}), Values({1})).ok());
    ASSERT_TRUE(table->Remove(Keys({key})).ok());
  }
  EXPECT_THAT(Find(*table, Keys({77})), ElementsAre(-1));
  ASSERT_TRUE(table->Insert(Keys({77}), Values({7})).ok());
  EXPECT_THAT(Find(*table, Keys({77})), ElementsAre(7));
}

TEST(TextTableTest, NamesTheLineThatIsWrong) {
  const std::string path = ::testing::TempDir() + "/table.txt";
  std::ofstream(path) << "a\t1\nb\tx\n";
  const absl::StatusOr<TextTable> table = ReadTextTable(
      path, {.key_index = 0, .value_index = 1, .key_type = DT_STRING, .value_type = DT_FLOAT});
  EXPECT_EQ(table.status().message(), "Field x in line 1 is not a valid float.");
}

}  // namespace
}  // namespace sluice
