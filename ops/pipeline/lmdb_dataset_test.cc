// Reads databases that Debian's LMDB library writes. There are no results of TensorFlow to compare
// with, because TensorFlow 2.21 no longer supports LMDB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lmdb.h>

#include <filesystem>

#include "executor/session/session.h"
#include "graph/status.h"
#include "ops/data/builders.h"
#include "ops/pipeline/lmdb_dataset_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

MDB_val ValueOf(const std::string& s) {
  return {.mv_size = s.size(), .mv_data = const_cast<char*>(s.data())};
}

std::string Write(const std::string& name, const std::vector<std::string>& keys) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / name).string();
  std::filesystem::remove(path);
  MDB_env* environment;
  MDB_txn* transaction;
  MDB_dbi names;
  EXPECT_EQ(mdb_env_create(&environment), 0);
  EXPECT_EQ(mdb_env_open(environment, path.c_str(), MDB_NOSUBDIR, 0644), 0);
  EXPECT_EQ(mdb_txn_begin(environment, nullptr, 0, &transaction), 0);
  EXPECT_EQ(mdb_dbi_open(transaction, nullptr, 0, &names), 0);
  for (const std::string& key : keys) {
    const std::string value = "value of " + key;
    MDB_val k = ValueOf(key), v = ValueOf(value);
    EXPECT_EQ(mdb_put(transaction, names, &k, &v, 0), 0);
  }
  EXPECT_EQ(mdb_txn_commit(transaction), 0);
  mdb_env_close(environment);
  return path;
}

// A graph whose steps take the pairs of the databases one after the other.
struct Program {
  explicit Program(const std::vector<std::string>& files) {
    const std::vector<DataType> types = {DT_STRING, DT_STRING};
    const std::vector<PartialShape> shapes = {PartialShape::Scalar(), PartialShape::Scalar()};
    Output dataset =
        LMDBDataset(Constant(graph, Tensor::Vector<std::string>(files)), types, shapes);
    Output iterator = IteratorV2(graph, "it", "", types, shapes);
    start = MakeIterator(dataset, iterator);
    pair = IteratorGetNext(iterator, types, shapes);
    session = std::make_unique<Session>(graph);
  }
  Graph graph;
  Operation start;
  OutputList pair;
  std::unique_ptr<Session> session;
};

TEST(LmdbDatasetTest, ReadsThePairsOfAllFilesInTheOrderOfTheirKeys) {
  Program p({Write("first", {"b", "a"}), Write("empty", {}), Write("last", {"0"})});
  ASSERT_TRUE(p.session->Run({p.start}).ok());
  for (const char* key : {"a", "b", "0"}) {
    const absl::StatusOr<Tensors> pair = p.session->Run({}, p.pair);
    ASSERT_TRUE(pair.ok()) << pair.status();
    EXPECT_EQ((*pair)[0].scalar<std::string>(), key);
    EXPECT_EQ((*pair)[1].scalar<std::string>(), StrCat("value of ", key));
  }
  EXPECT_TRUE(absl::IsOutOfRange(p.session->Run({}, p.pair).status()));
}

TEST(LmdbDatasetTest, AMissingFileIsNotFound) {
  Program p({"/nowhere/database"});
  ASSERT_TRUE(p.session->Run({p.start}).ok());
  const absl::Status status = p.session->Run({}, p.pair).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/database"));
}

}  // namespace
}  // namespace sluice
