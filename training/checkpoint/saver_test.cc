#include "training/checkpoint/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "executor/files/files.h"
#include "graph/format/meta_graph.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/checkpoint/bundle.h"
#include "ops/embedding/partitioned_variable.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string FolderOfTest() {
  std::string name =
      StrCat(::testing::TempDir(), "/",
             ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_XXXXXX");
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  const auto files = MatchFiles(folder + "/*");
  for (const std::string& file : *files) names.push_back(BaseNameOf(file));
  return names;
}

// Has a graph with a variable of each kind, and ops that change the variables.
struct Model {
  explicit Model(SaverOptions options = {}, bool use_resource = true)
      : w(g, "w", Tensor::Of<float>({2, 2}, {1, 2, 3, 4}), {.use_resource = use_resource}),
        n(g, "n", Tensor::Scalar<int64_t>(5), {.trainable = false, .use_resource = !use_resource}),
        init(InitializeVariables(g)),
        change(w.AssignAdd(Constant(g, Tensor::Of<float>({2, 2}, {1, 1, 1, 1})))),
        saver(g, std::move(options)),
        session(g) {
    EXPECT_TRUE(g.status().ok()) << g.status();
  }
  std::vector<float> Value() {
    const auto out = session.Run({}, {w}, {});
    EXPECT_TRUE(out.ok()) << out.status();
    return {(*out)[0].flat<float>().begin(), (*out)[0].flat<float>().end()};
  }

  Graph g;
  Variable w, n;
  Operation init, change;
  Saver saver;
  Session session;
};

TEST(Saver, RestoresWhatItSavedWithoutInitialisation) {
  const std::string folder = FolderOfTest();
  for (bool use_resource : {true, false}) {
    for (auto version : {CheckpointFormat::kV2, CheckpointFormat::kV1}) {
      Model a({.write_version = version}, use_resource);
      ASSERT_TRUE(a.session.Run({a.init}).ok());
      ASSERT_TRUE(a.session.Run({a.change}).ok());
      const auto path = a.saver.Save(a.session, folder + "/m", 7);
      ASSERT_TRUE(path.ok()) << path.status();
      EXPECT_EQ(*path, folder + "/m-7");
      Model b({}, use_resource);
      EXPECT_EQ(LatestCheckpoint(folder).value(), *path);
      const absl::Status restored = b.saver.Restore(b.session, *path);
      ASSERT_TRUE(restored.ok()) << restored;
      EXPECT_THAT(b.Value(), ElementsAre(2, 3, 4, 5));
      EXPECT_EQ(b.session.Run({}, {b.n}, {}).value()[0].scalar<int64_t>(), 5);
      ASSERT_TRUE(RemoveCheckpoint(*path).ok());
      EXPECT_THAT(FilesIn(folder), ElementsAre("checkpoint"));
    }
  }
}

TEST(Saver, KeepsTheLastOnesAndOneInSoManyHours) {
  const std::string folder = FolderOfTest();
  double now = 0;
  Model m({.max_to_keep = 2, .keep_checkpoint_every_n_hours = 1, .clock = [&] { return now; }});
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  // Step 5 is the first one that is saved more than an hour after the start.
  for (int step = 1; step <= 9; ++step, now += 1200) {
    ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", {.global_step = step}).ok());
  }
  std::vector<std::string> kept;
  for (const std::string& file : FilesIn(folder)) {
    if (file.ends_with(".index")) kept.push_back(file);
  }
  EXPECT_THAT(kept, ElementsAre("m-5.index", "m-8.index", "m-9.index"));
  EXPECT_THAT(m.saver.last_checkpoints(), ElementsAre(folder + "/m-8", folder + "/m-9"));
  EXPECT_FALSE(FileExists(folder + "/m-1.meta"));
  EXPECT_THAT(
      ReadWholeFile(folder + "/checkpoint").value(),
      StrCat("model_checkpoint_path: \"", folder, "/m-9\"\n", "all_model_checkpoint_paths: \"",
             folder, "/m-8\"\n", "all_model_checkpoint_paths: \"", folder, "/m-9\"\n"));
}

TEST(Saver, TakesOverTheCheckpointsOfARunBefore) {
  const std::string folder = FolderOfTest();
  {
    Model m;
    ASSERT_TRUE(m.session.Run({m.init}).ok());
    for (int step : {1, 2}) ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", step).ok());
  }
  Model m({.max_to_keep = 2});
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  m.saver.RecoverLastCheckpoints({folder + "/m-0", folder + "/m-1", folder + "/m-2"});
  EXPECT_THAT(m.saver.last_checkpoints(), ElementsAre(folder + "/m-1", folder + "/m-2"));
  ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", 3).ok());
  EXPECT_FALSE(CheckpointExists(folder + "/m-1"));
  EXPECT_TRUE(CheckpointExists(folder + "/m-2"));
}

TEST(Saver, IsWhatATrainingLoopNeedsOfOne) {
  const std::string folder = FolderOfTest();
  Graph g;
  Variable w(g, "w", 1.0f);
  Operation init = InitializeVariables(g);
  auto saver = std::make_shared<Saver>();
  ModelSaver& model = *saver;
  ASSERT_TRUE(model.Build(g).ok());
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  EXPECT_EQ(model.FindCheckpoints(folder)->latest, "");
  ASSERT_TRUE(model.Save(session, folder + "/m", 1, true).ok());
  ASSERT_TRUE(model.Save(session, folder + "/m", 2, false).ok());
  const auto found = model.FindCheckpoints(folder);
  EXPECT_EQ(found->latest, folder + "/m-2");
  EXPECT_THAT(found->all, ElementsAre(folder + "/m-1", folder + "/m-2"));
  EXPECT_TRUE(FileExists(folder + "/m-1.meta"));
  EXPECT_FALSE(FileExists(folder + "/m-2.meta"));
  ASSERT_TRUE(model.Restore(session, found->latest).ok());
}

TEST(Saver, RelativePathsMoveWithTheFolder) {
  const std::string folder = FolderOfTest();
  Model m({.pad_step_number = true, .save_relative_paths = true});
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", 12).ok());
  const std::string moved = folder + "_moved";
  std::filesystem::rename(folder, moved);
  EXPECT_EQ(LatestCheckpoint(moved).value(), moved + "/m-00000012");
}

TEST(Saver, ALostOrDamagedLatestCheckpointIsPassedOver) {
  const std::string folder = FolderOfTest();
  Model m;
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  for (int step : {1, 2, 3}) ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", step).ok());
  ASSERT_TRUE(RemoveCheckpoint(folder + "/m-3").ok());
  EXPECT_EQ(LatestCheckpoint(folder).value(), folder + "/m-2");
  ASSERT_TRUE(WriteFileAtomically(folder + "/m-2.index", "nonsense").ok());
  EXPECT_EQ(LatestCheckpoint(folder).value(), folder + "/m-1");
  EXPECT_TRUE(absl::IsNotFound(LatestCheckpoint(folder + "/no").status()));
}

TEST(Saver, RestoresUnderOtherNames) {
  const std::string folder = FolderOfTest();
  Model a;
  ASSERT_TRUE(a.session.Run({a.init}).ok());
  ASSERT_TRUE(a.saver.Save(a.session, folder + "/m").ok());
  Graph g;
  Variable v(g, "renamed", {2, 2}, Zeros());
  Variable other(g, "not_saved", {1}, Zeros());
  Saver saver(g, {.names = {{"w", v}}});
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  ASSERT_TRUE(saver.Restore(session, folder + "/m").ok());
  EXPECT_THAT(session.Run({}, {v}, {}).value()[0].flat<float>(), ElementsAre(1, 2, 3, 4));
}

TEST(Saver, AllThatDoesNotFitIsNamedWithExpectedAndGot) {
  const std::string folder = FolderOfTest();
  Model a;
  ASSERT_TRUE(a.session.Run({a.init}).ok());
  ASSERT_TRUE(a.saver.Save(a.session, folder + "/m").ok());
  Graph g;
  Variable w(g, "w", {3}, Zeros());
  Variable n(g, "n", 1.0f);
  Variable q(g, "q", {2}, Zeros());
  Saver saver(g);
  Session session(g);
  const absl::Status restored = saver.Restore(session, folder + "/m");
  EXPECT_TRUE(absl::IsNotFound(restored));
  EXPECT_THAT(
      restored.message(),
      HasSubstr(StrCat("Restoring from checkpoint '", folder,
                       "/m': ", "variable 'n': expected float[], got int64[] under the key 'n'; ",
                       "variable 'q': expected float[2] under the key 'q', got no such key; ",
                       "variable 'w': expected float[3], got float[2,2] under the key 'w'"
                       ". The first error: ")));
  EXPECT_THAT(restored.message(), HasSubstr("Key q not found in checkpoint"));
  EXPECT_EQ(saver.Restore(session, folder + "/none").message(),
            StrCat("The passed save_path is not a valid checkpoint: ", folder, "/none"));
}

TEST(Saver, WhatCannotBeSavedIsToldAtOnce) {
  Graph empty;
  Saver nothing(empty);
  Session session(empty);
  EXPECT_EQ(nothing.Save(session, "/tmp/x").status().message(), "No variables to save");
  Saver allowed(empty, {.allow_empty = true});
  EXPECT_TRUE(allowed.Restore(session, "/tmp/x").ok());

  Model m;
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  EXPECT_THAT(m.saver.Save(m.session, "/no/such/folder/m").status().message(),
              HasSubstr("Parent directory of /no/such/folder/m doesn't exist, can't save."));
  EXPECT_EQ(m.saver.Save(m.session, "/tmp/m", {.latest_filename = "a/b"}).status().message(),
            "'latest_filename' must not contain path components");
  EXPECT_EQ(m.saver.Save(m.session, "/tmp/checkpoint").status().message(),
            "'latest_filename' collides with 'save_path': 'checkpoint' and '/tmp/checkpoint'");
  Saver twice({.names = {{"a", m.w}, {"a", m.n}}});
  EXPECT_THAT(twice.Build(m.g).message(),
              HasSubstr("At least two variables have the same name: a"));
}

TEST(Saver, PartsAreOneTensorInAnyOtherPartition) {
  const std::string folder = FolderOfTest();
  Tensor rows(DT_FLOAT, {7, 2});
  for (int i = 0; i < 14; ++i) rows.data<float>()[i] = static_cast<float>(i);
  {
    Graph g;
    PartitionedVariable p(g, "p", {7, 2}, Zeros(), {3});
    ASSERT_EQ(p.parts().size(), 3);
    EXPECT_EQ(p.parts()[0].shape().ToString(), "[3,2]");
    std::vector<Operation> set;
    int64_t row = 0;
    for (const Variable& part : p.parts()) {
      const int64_t end = row + part.shape().dim(0);
      set.push_back(part.Assign(Constant(g, rows.SliceRows(row, end).Clone().value())));
      row = end;
    }
    Saver saver(g);
    Session session(g);
    ASSERT_TRUE(session.Run(set).ok());
    EXPECT_EQ(session.Run({}, {p}, {}).value()[0].flat<float>(), rows.flat<float>());
    const auto saved = saver.Save(session, folder + "/m");
    ASSERT_TRUE(saved.ok()) << saved.status();
  }
  EXPECT_THAT(BundleReader::Open(folder + "/m").value()->names(), ElementsAre("p"));
  for (int parts : {1, 2, 7}) {
    Graph g;
    PartitionedVariable p(g, "p", {7, 2}, Zeros(), {parts});
    Saver saver(g);
    Session session(g);
    ASSERT_TRUE(saver.Restore(session, folder + "/m").ok());
    EXPECT_EQ(session.Run({}, {p}, {}).value()[0].flat<float>(), rows.flat<float>());
  }
  Graph whole;
  Variable v(whole, "p", {7, 2}, Zeros());
  Saver saver(whole);
  Session session(whole);
  ASSERT_TRUE(saver.Restore(session, folder + "/m").ok());
  EXPECT_EQ(session.Run({}, {v}, {}).value()[0].flat<float>(), rows.flat<float>());
}

TEST(Saver, ASaveWhoseBytesDoNotReadBackHasNotSucceeded) {
  const std::string folder = FolderOfTest();
  Model m;
  ASSERT_TRUE(m.session.Run({m.init}).ok());
  ASSERT_TRUE(m.saver.Save(m.session, folder + "/m", 1).ok());
  SetFileHook([](const FileChange& change) -> absl::Status {
    // Simulates a disk that loses written data.
    if (change.kind == FileChange::kRename && change.path.find(".data-") != std::string::npos) {
      std::filesystem::resize_file(change.path, 3);
    }
    return absl::OkStatus();
  });
  const absl::Status saved = m.saver.Save(m.session, folder + "/m", 2).status();
  SetFileHook(nullptr);
  EXPECT_TRUE(absl::IsDataLoss(saved)) << saved;
  EXPECT_EQ(LatestCheckpoint(folder).value(), folder + "/m-1");
}

TEST(Saver, RunsOverTheNodesOfAMetaGraph) {
  const std::string folder = FolderOfTest();
  Model a;
  ASSERT_TRUE(a.session.Run({a.init}).ok());
  ASSERT_TRUE(a.saver.Save(a.session, folder + "/m").ok());
  pb::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(ReadWholeFile(folder + "/m.meta").value()));
  EXPECT_EQ(meta.saver_def().save_tensor_name(), "save/control_dependency:0");
  EXPECT_TRUE(meta.collection_def().at("variables").has_bytes_list());
  Graph g;
  const auto imported = ImportMetaGraphDef(meta, g, {.prefix = "copy"});
  ASSERT_TRUE(imported.ok()) << imported.status();
  const auto saver = Saver::FromDef(imported->rest.saver_def(), g, "copy");
  ASSERT_TRUE(saver.ok()) << saver.status();
  Session session(g);
  ASSERT_TRUE((*saver)->Restore(session, folder + "/m").ok());
  const std::vector<Variable> trainable = TrainableVariables(g);
  ASSERT_EQ(trainable.size(), 1);
  EXPECT_EQ(trainable[0].name(), "copy/w");
  EXPECT_THAT(session.Run({}, {trainable[0]}, {}).value()[0].flat<float>(),
              ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(GlobalVariables(g).size(), 2);
  ASSERT_TRUE((*saver)->Save(session, folder + "/again").ok());
  EXPECT_TRUE(CheckpointExists(folder + "/again"));
  EXPECT_EQ(Saver::FromDef(imported->rest.saver_def(), g).status().message().substr(0, 9),
            "SaverDef:");
  pb::SaverDef of_a_number = imported->rest.saver_def();
  of_a_number.set_save_tensor_name("w/Read/ReadVariableOp:0");
  const auto wrong = Saver::FromDef(of_a_number, g, "copy");
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_THAT((*wrong)->Save(session, folder + "/wrong").status().message(),
              HasSubstr("expected one string from 'copy/w/Read/ReadVariableOp:0', got float[2,2]"));
}

}  // namespace
}  // namespace sluice
