#include "graph/format/meta_graph.h"

#include "gmock/gmock.h"
#include "graph/format/text.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kMeta[] = R"(
  meta_info_def { tags: "train" }
  graph_def { node { name: "a" op: "NoOp" } versions { producer: 2474 } }
  saver_def { save_tensor_name: "save/control_dependency:0" restore_op_name: "save/restore_all" }
  collection_def { key: "train_op" value { node_list { value: "a" } } }
  collection_def { key: "queue_runners" value { bytes_list { value: "\n\001q" } } }
  collection_def { key: "steps" value { int64_list { value: 3 } } }
  collection_def { key: "any" value { any_list { value { [type.googleapis.com/tensorflow.QueueRunnerDef] { queue_name: "q" } } } } }
  signature_def { key: "s" value { method_name: "m" } })";

pb::MetaGraphDef Meta(std::string_view text) {
  pb::MetaGraphDef meta;
  absl::Status status = ParseText(text, &meta);
  EXPECT_TRUE(status.ok()) << status;
  return meta;
}

TEST(MetaGraph, CollectionsSaverAndSignaturesPassThrough) {
  Graph g;
  auto imported = ImportMetaGraphDef(Meta(kMeta), g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(g.collections()["train_op"], ElementsAre("a"));
  EXPECT_EQ(imported->rest.saver_def().restore_op_name(), "save/restore_all");
  EXPECT_FALSE(imported->rest.has_graph_def());
  auto exported = ExportMetaGraphDef(g, {}, imported->rest);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->meta_info_def().stripped_op_list().op(0).name(), "NoOp");
  EXPECT_EQ(exported->meta_info_def().tensorflow_version(), "2.21.0");
  pb::MetaGraphDef same = *exported;
  *same.mutable_meta_info_def() = Meta(kMeta).meta_info_def();
  EXPECT_EQ(PrintText(same), PrintText(Meta(kMeta)));
}

TEST(MetaGraph, AnyIsWrittenAsTensorFlowWritesIt) {
  EXPECT_THAT(PrintText(Meta(kMeta)),
              HasSubstr("[type.googleapis.com/tensorflow.QueueRunnerDef] {"));
}

TEST(MetaGraph, PrefixReachesTheCollections) {
  Graph g;
  ASSERT_TRUE(ImportMetaGraphDef(Meta(kMeta), g, {.prefix = "p"}).ok());
  EXPECT_THAT(g.collections()["train_op"], ElementsAre("p/a"));
  EXPECT_THAT(g.collections()["queue_runners"], ElementsAre("\n\003p/q"));
}

TEST(MetaGraph, FilesOfEitherKindInEitherForm) {
  const pb::MetaGraphDef meta = Meta(kMeta);
  const pb::GraphDef& graph = meta.graph_def();
  for (const std::string& bytes : {meta.SerializeAsString(), std::string(kMeta)}) {
    auto read = ReadMetaGraphOrGraph(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->graph_def().node(0).name(), "a");
    EXPECT_TRUE(read->has_saver_def());
  }
  for (const std::string& bytes : {graph.SerializeAsString(), PrintText(graph)}) {
    auto read = ReadMetaGraphOrGraph(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->graph_def().node(0).name(), "a");
    EXPECT_FALSE(read->has_saver_def());
  }
  EXPECT_FALSE(ReadMetaGraphOrGraph("\x01\x02\x03").ok());
}

}  // namespace
}  // namespace sluice
