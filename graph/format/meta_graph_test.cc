#include "graph/format/meta_graph.h"

#include "gmock/gmock.h"
#include "graph/format/proto/variable.pb.h"
#include "graph/format/text.h"
#include "graph/ir/variable_slice.h"
#include "graph/strings.h"
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

pb::MetaGraphDef MetaWithVariable(std::string_view slice) {
  pb::MetaGraphDef meta = Meta(R"(graph_def {
    node { name: "w" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "w/Assign" op: "NoOp" }
    node { name: "w/read" op: "Identity" input: "w" attr { key: "T" value { type: DT_FLOAT } } } })");
  pb::VariableDef def;
  EXPECT_TRUE(ParseText(StrCat(R"(variable_name: "w:0" initializer_name: "w/Assign"
                                  snapshot_name: "w/read:0" trainable: true )",
                               slice),
                        &def)
                  .ok());
  for (const char* key : {"variables", "trainable_variables", "mine"}) {
    (*meta.mutable_collection_def())[key].mutable_bytes_list()->add_value(def.SerializeAsString());
  }
  return meta;
}

TEST(MetaGraph, VariablesPassBothWaysWithTheirSlices) {
  const pb::MetaGraphDef meta = MetaWithVariable(R"(save_slice_info_def {
    full_name: "p" full_shape: [4, 2] var_offset: [2, 0] var_shape: [2, 2] })");
  Graph g;
  const auto imported = ImportMetaGraphDef(meta, g);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->rest.collection_def_size(), 0);
  EXPECT_THAT(g.collections()["variables"], ElementsAre("w:0"));
  EXPECT_EQ(g.variables()["w:0"].initializer, "w/Assign");
  EXPECT_TRUE(g.variables()["w:0"].trainable);
  EXPECT_EQ(FindVariableSlice(g, "w:0")->ShapeAndSlice(), "4 2 2,2:0,2");
  const auto exported = ExportMetaGraphDef(g, {}, imported->rest);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->collection_def_size(), 3);  // without the internal collection of slices
  for (const auto& [key, collection] : meta.collection_def()) {
    EXPECT_EQ(exported->collection_def().at(key).SerializeAsString(),
              collection.SerializeAsString());
  }
}

TEST(MetaGraph, VariablesGetThePrefixInTheirSlicesToo) {
  const pb::MetaGraphDef meta = MetaWithVariable(R"(save_slice_info_def {
    full_name: "p" full_shape: 4 var_offset: 2 var_shape: 2 })");
  Graph g;
  ASSERT_TRUE(ImportMetaGraphDef(meta, g, {.prefix = "a"}).ok());
  EXPECT_THAT(g.collections()["mine"], ElementsAre("a/w:0"));
  EXPECT_EQ(g.variables()["a/w:0"].snapshot, "a/w/read:0");
  EXPECT_EQ(FindVariableSlice(g, "a/w:0")->full_name, "a/p");
}

TEST(MetaGraph, SaversPassBothWaysUnderThePrefix) {
  pb::MetaGraphDef meta = Meta(R"(graph_def { node { name: "n" op: "NoOp" } })");
  pb::SaverDef def;
  def.set_filename_tensor_name("save/Const:0");
  def.set_save_tensor_name("save/Identity:0");
  def.set_restore_op_name("save/restore_all");
  (*meta.mutable_collection_def())["savers"].mutable_bytes_list()->add_value(
      def.SerializeAsString());
  Graph g;
  const auto imported = ImportMetaGraphDef(meta, g, {.prefix = "a"});
  ASSERT_TRUE(imported.ok()) << imported.status();
  const auto exported = ExportMetaGraphDef(g);
  ASSERT_TRUE(exported.ok()) << exported.status();
  ASSERT_TRUE(def.ParseFromString(exported->collection_def().at("savers").bytes_list().value(0)));
  EXPECT_EQ(def.filename_tensor_name(), "a/save/Const:0");
  EXPECT_EQ(def.save_tensor_name(), "a/save/Identity:0");
  EXPECT_EQ(def.restore_op_name(), "a/save/restore_all");

  meta.mutable_collection_def()->at("savers").mutable_bytes_list()->set_value(0, "\x01");
  EXPECT_EQ(ImportMetaGraphDef(meta, g).status().message(),
            "collection 'savers': an entry is no SaverDef");
}

TEST(MetaGraph, AVariableWithoutNodesOrWithASliceOutsideIsRefused) {
  Graph g;
  EXPECT_THAT(ImportMetaGraphDef(MetaWithVariable(R"(initial_value_name: "nothing:0")"), g)
                  .status()
                  .message(),
              HasSubstr("VariableDef 'w:0': "));
  pb::MetaGraphDef no_variable = MetaWithVariable("");
  no_variable.mutable_graph_def()->clear_node();
  Graph empty;
  const absl::Status missing = ImportMetaGraphDef(no_variable, empty).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(missing.message(), HasSubstr("VariableDef 'w:0': tensor 'w:0': no node 'w'"));
  Graph no_output;
  EXPECT_EQ(ImportMetaGraphDef(MetaWithVariable(R"(initial_value_name: "w/Assign")"), no_output)
                .status()
                .message(),
            "VariableDef 'w:0': tensor 'w/Assign': node 'w/Assign' has no outputs");
  Graph h;
  EXPECT_EQ(ImportMetaGraphDef(MetaWithVariable(R"(save_slice_info_def {
              full_name: "p" full_shape: 4 var_offset: 3 var_shape: 2 })"),
                               h)
                .status()
                .message(),
            "VariableDef 'w:0': its slice does not lie within the whole");
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
