// Compares what is read with what Debian's LMDB library wrote to databases. The results cannot be
// compared with TensorFlow's, because TensorFlow removed its LMDB support.
#include <lmdb.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/dataflow/builders.h"
#include "ops/io/builders.h"
#include "ops/io/lmdb_builders.h"
#include "ops/io/lmdb_database.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using Pairs = std::map<std::string, std::string>;

class LmdbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  static MDB_val ValueOf(const std::string& s) {
    return {.mv_size = s.size(), .mv_data = const_cast<char*>(s.data())};
  }
  // Writes a database to a file, or to a folder.
  std::string Write(const std::string& name, const Pairs& pairs, unsigned flags = MDB_NOSUBDIR) {
    const std::string path = (folder_ / name).string();
    if (flags == 0) std::filesystem::create_directories(path);
    MDB_env* environment;
    MDB_txn* transaction;
    MDB_dbi names;
    EXPECT_EQ(mdb_env_create(&environment), 0);
    EXPECT_EQ(mdb_env_set_mapsize(environment, 64 << 20), 0);
    EXPECT_EQ(mdb_env_open(environment, path.c_str(), flags, 0644), 0);
    EXPECT_EQ(mdb_txn_begin(environment, nullptr, 0, &transaction), 0);
    EXPECT_EQ(mdb_dbi_open(transaction, nullptr, 0, &names), 0);
    for (const auto& [key, value] : pairs) {
      MDB_val k = ValueOf(key), v = ValueOf(value);
      EXPECT_EQ(mdb_put(transaction, names, &k, &v, 0), 0);
    }
    EXPECT_EQ(mdb_txn_commit(transaction), 0);
    mdb_env_close(environment);
    return path;
  }
  static Pairs Read(const std::string& path) {
    Pairs found;
    const auto database = LmdbDatabase::Open(path);
    EXPECT_TRUE(database.ok()) << database.status();
    if (!database.ok()) return found;
    std::string key, value, last;
    while (true) {
      const absl::StatusOr<bool> any = (*database)->Next(&key, &value);
      EXPECT_TRUE(any.ok()) << any.status();
      if (!any.ok() || !*any) return found;
      EXPECT_TRUE(found.empty() || last < key) << last << ", then " << key;
      last = key;
      found[key] = value;
    }
  }
  std::filesystem::path folder_;
};

TEST_F(LmdbTest, GivesPairsInTheOrderOfTheirKeys) {
  const Pairs pairs = {
      {"b", "two"}, {"a", std::string("\0x", 2)}, {"c", ""}, {"d", std::string(100'000, 'y')}};
  EXPECT_EQ(Read(Write("file", pairs)), pairs);
  EXPECT_EQ(Read(Write("folder", pairs, 0)), pairs);
}

TEST_F(LmdbTest, ATreeOfManyPagesIsReadInOrder) {
  std::mt19937 random(1);
  Pairs pairs;
  for (int i = 0; i < 20'000; ++i) {
    // Makes some values so large that they have pages of their own.
    const size_t bytes = random() % 100 == 0 ? 5'000 : random() % 50;
    pairs[std::string(1 + random() % 100, 'k') + std::to_string(random())] =
        std::string(bytes, static_cast<char>(random()));
  }
  EXPECT_EQ(Read(Write("large", pairs)), pairs);
}

TEST_F(LmdbTest, LaterTransactionsCount) {
  Write("changed", {{"a", "old"}, {"b", "two"}});
  EXPECT_EQ(Read(Write("changed", {{"a", "new"}, {"c", "three"}})),
            (Pairs{{"a", "new"}, {"b", "two"}, {"c", "three"}}));
}

// LMDB's library crashed for 4 of 200 damaged files, and so did a server that read them.
TEST_F(LmdbTest, DamagedPagesGivePairsOrDataLoss) {
  Pairs pairs = {{"large", std::string(9'000, 'x')}};
  for (int i = 0; i < 300; ++i) pairs[std::to_string(i)] = std::string(20, 'v');
  const std::string path = Write("damaged", pairs);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(1);
  int damaged = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string changed = bytes;
    for (int n = 0; n < 8; ++n) {  // most changes are in headers
      const size_t page = random() % (bytes.size() / 4096) * 4096;
      changed[page + random() % (n % 2 == 0 ? 200 : 4096)] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << changed;
    const auto database = LmdbDatabase::Open(path);
    absl::Status status = database.status();
    std::string key, value;
    size_t read = 0;
    while (status.ok()) {
      const absl::StatusOr<bool> any = (*database)->Next(&key, &value);
      status = any.status();
      if (any.ok() && !*any) break;
      ASSERT_LT(++read, 100'000u);
    }
    if (absl::IsUnimplemented(status)) continue;  // as if its keys had several values
    if (!status.ok()) ++damaged;
    ASSERT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  }
  EXPECT_GT(damaged, 500);
}

TEST_F(LmdbTest, AnEmptyDatabaseIsAtItsEnd) { EXPECT_EQ(Read(Write("empty", {})), Pairs()); }

TEST_F(LmdbTest, ADatabaseWithoutItsFileIsNotFound) {
  for (const char* name : {"missing", ""}) {
    const absl::Status status = LmdbDatabase::Open((folder_ / name).string()).status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("; No such file or directory"));
  }
}

TEST_F(LmdbTest, OtherFilesAreDataLoss) {
  const std::string path = (folder_ / "text").string();
  std::ofstream(path) << std::string(10'000, 'x');
  const absl::Status status = LmdbDatabase::Open(path).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path + "; MDB_INVALID"));
}

TEST_F(LmdbTest, AFileThatWasCutOffIsDataLoss) {
  const std::string path = Write("cut", {{"a", std::string(100'000, 'y')}});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 50'000);
  const absl::Status status = LmdbDatabase::Open(path).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cut; expected "));
}

TEST_F(LmdbTest, AReaderGoesThroughTheDatabasesOfItsQueue) {
  Graph g;
  Output names = Placeholder(g, DT_STRING, {-1}, "names");
  Output queue = FIFOQueue(g, {DT_STRING}, {.shapes = {PartialShape::Scalar()}});
  Operation fill = QueueEnqueueMany(queue, {names});
  Operation close = QueueClose(queue);
  Output reader = LMDBReader(g);
  const auto read = ReaderRead(reader, queue);
  Output records = ReaderNumRecordsProduced(reader), files = ReaderNumWorkUnitsCompleted(reader);
  Session session(g);

  const std::vector<std::string> paths = {Write("one", {{"k", "1"}, {"l", "2"}}), Write("none", {}),
                                          Write("two", {{"k", "3"}}, 0)};
  Tensor fed(DT_STRING, {3});
  std::copy(paths.begin(), paths.end(), fed.data<std::string>());
  ASSERT_TRUE(session.Run({{names, fed}}, {}, {fill}).ok());
  ASSERT_TRUE(session.Run({}, {}, {close}).ok());
  std::string all;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<Tensors> next = session.Run({}, {read.key, read.value});
    ASSERT_TRUE(next.ok()) << next.status();
    all += (*next)[0].scalar<std::string>() + "=" + (*next)[1].scalar<std::string>() + " ";
  }
  EXPECT_EQ(all, "k=1 l=2 k=3 ");
  EXPECT_TRUE(absl::IsOutOfRange(session.Run({}, {read.key}).status()));
  const absl::StatusOr<Tensors> counts = session.Run({}, {records, files});
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ((*counts)[0].scalar<int64_t>(), 3);
  EXPECT_EQ((*counts)[1].scalar<int64_t>(), 3);
}

}  // namespace
}  // namespace sluice
