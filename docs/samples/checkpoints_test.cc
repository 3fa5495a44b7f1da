// The code in docs/checkpoints.md.

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

std::string NewFolder() {
  std::string name = ::testing::TempDir() + "/checkpoints_XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

absl::Status SaveAndGoOn(const std::string& folder, float* value) {
  Graph g;
  Variable w(g, "w", 1.0f);
  Operation train = w.AssignAdd(Constant(g, 1.0f));
  Operation init = InitializeVariables(g);
  // [save]
  Saver saver(g, {.max_to_keep = 3});
  Session session(g);
  if (absl::StatusOr<std::string> latest = LatestCheckpoint(folder); latest.ok()) {
    SLUICE_RETURN_IF_ERROR(saver.Restore(session, *latest));
  } else {
    SLUICE_RETURN_IF_ERROR(session.Run({init}));
  }
  for (int step = 0; step < 3; ++step) {
    SLUICE_RETURN_IF_ERROR(session.Run({train}));
    SLUICE_RETURN_IF_ERROR(saver.Save(session, folder + "/model", step).status());
  }
  // [/save]
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run({}, {w}));
  *value = out[0].scalar<float>();
  return absl::OkStatus();
}

TEST(CheckpointSamples, SaveAndGoOn) {
  const std::string folder = NewFolder();
  float value = 0;
  ASSERT_TRUE(SaveAndGoOn(folder, &value).ok());
  EXPECT_EQ(value, 4);
  ASSERT_TRUE(SaveAndGoOn(folder, &value).ok());
  EXPECT_EQ(value, 7);
}

TEST(CheckpointSamples, NamesPartsAndReading) {
  const std::string folder = NewFolder();
  {
    Graph g;
    // [parts]
    PartitionedVariable table(g, "table", {1000, 8}, Zeros(), {4});  // table/part_0 … table/part_3
    Saver saver(g);                                                  // saves one tensor, "table"
    // [/parts]
    Session session(g);
    ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
    ASSERT_TRUE(saver.Save(session, folder + "/model").ok());
  }
  const std::string path = folder + "/model";
  Graph g;
  // [names]
  Variable embedding(g, "embedding", {1000, 8}, Ones());
  Variable head(g, "head", {8, 2}, GlorotUniform());
  Saver warm(g, {.names = {{"table", embedding}}});  // `head` is not in the file
  // [/names]
  Session session(g);
  ASSERT_TRUE(warm.Restore(session, path).ok());
  const auto out = session.Run({}, {embedding});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ((*out)[0].data<float>()[0], 0);
  // [read]
  auto reader = CheckpointReader::Open(path).value();
  for (const SavedTensor& t : reader->tensors()) {
    Tensor value = reader->Read(t.name).value();
    std::printf("%s %s\n", t.name.c_str(), value.ToString().c_str());
  }
  // [/read]
  EXPECT_EQ(reader->tensors().size(), 1);
}

TEST(CheckpointSamples, SavedModel) {
  const std::string folder = NewFolder() + "/1";
  {
    Graph g;
    Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
    Variable w(g, "w", 3.0f);
    Output y = x * w;
    Session session(g);
    ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
    // [export]
    SavedModelBuilder builder(folder);
    absl::Status added = builder.AddMetaGraphAndVariables(
        session,
        {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
    absl::StatusOr<std::string> file = builder.Save();
    // [/export]
    ASSERT_TRUE(added.ok()) << added;
    ASSERT_TRUE(file.ok()) << file.status();
  }
  // [serve]
  Graph g;
  SavedModel model = LoadSavedModel(folder, {"serve"}, g).value();
  Session session(g);
  absl::Status restored = model.Restore(session);
  Signature serving = model.FindSignature("serving_default").value();
  absl::StatusOr<Tensors> y =
      session.Run({{serving.inputs["x"], Tensor::Vector<float>({1, 2})}}, {serving.outputs["y"]});
  // [/serve]
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(3, 6));
}

}  // namespace
}  // namespace sluice
