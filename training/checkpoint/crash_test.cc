// A process that is killed at any change to its files leaves the last complete checkpoint intact.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "graph/format/proto/meta_graph.pb.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

struct Outcome {
  bool was_killed;
  int last_saved = -1;  // the last save that returned
};

Outcome TrainUntil(const std::string& folder, int change, bool sharded) {
  const std::string command = StrCat("exec training/checkpoint/save_and_die ", folder, " ", change,
                                     " 2", sharded ? " sharded" : "");
  FILE* output = popen(command.c_str(), "r");
  Outcome outcome{};
  int saved;
  while (std::fscanf(output, "saved %d\n", &saved) == 1) outcome.last_saved = saved;
  const int status = pclose(output);
  outcome.was_killed = WIFSIGNALED(status);
  EXPECT_TRUE(outcome.was_killed || status == 0) << "status " << status;
  return outcome;
}

// Checks that the values of the latest checkpoint belong to the step in its name. Returns the step.
int CheckLatest(const std::string& folder) {
  const absl::StatusOr<std::string> latest = LatestCheckpoint(folder);
  EXPECT_TRUE(latest.ok()) << latest.status();
  if (!latest.ok()) return -1;
  const int step = std::atoi(latest->substr(latest->rfind('-') + 1).c_str());
  const auto reader = BundleReader::Open(*latest);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return -1;
  EXPECT_EQ((*reader)->Read("global_step").value().scalar<int64_t>(), step);
  for (const char* name : {"w0", "w1"}) {
    const absl::StatusOr<Tensor> w = (*reader)->Read(name);
    EXPECT_TRUE(w.ok()) << w.status();
    if (!w.ok()) return -1;
    EXPECT_EQ(w->num_elements(), 100);
    for (float v : w->flat<float>()) EXPECT_EQ(v, 10.0f * static_cast<float>(step));
  }
  pb::MetaGraphDef meta;
  EXPECT_TRUE(meta.ParseFromString(ReadWholeFile(MetaGraphName(*latest)).value_or("x")));
  return step;
}

void KillAtEveryChange(bool sharded) {
  std::string folder = ::testing::TempDir() + "/crash_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_FALSE(TrainUntil(folder, -1, sharded).was_killed);
  ASSERT_EQ(CheckLatest(folder), 2);
  const std::string start = folder + "_start";
  std::filesystem::rename(folder, start);
  int change = 0;
  for (bool was_killed = true; was_killed; ++change) {
    std::filesystem::remove_all(folder);
    std::filesystem::copy(start, folder, std::filesystem::copy_options::recursive);
    // Paths in the state file are absolute, so all rounds use the same folder.
    const Outcome outcome = TrainUntil(folder, change, sharded);
    was_killed = outcome.was_killed;
    const int step = CheckLatest(folder);
    EXPECT_GE(step, std::max(2, outcome.last_saved)) << "killed at change " << change;
    // The remains of the killed run do not prevent the next one.
    if (change % 16 == 3) {
      EXPECT_FALSE(TrainUntil(folder, -1, sharded).was_killed);
      EXPECT_EQ(CheckLatest(folder), step + 2);
    }
    if (::testing::Test::HasFailure()) FAIL() << "killed at change " << change;
  }
  // Three saves, whose files are written in several pieces each.
  EXPECT_GT(change, 60);
}

TEST(Crash, AKillAtAnyChangeLeavesTheLastGoodCheckpoint) { KillAtEveryChange(false); }
TEST(Crash, AKillAtAnyChangeOfAShardedSaveLeavesTheLastGoodCheckpoint) { KillAtEveryChange(true); }

}  // namespace
}  // namespace sluice
