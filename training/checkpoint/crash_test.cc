// Kills a process at any change to its files. The last complete checkpoint must stay intact.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "graph/format/proto/meta_graph.pb.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

struct Outcome {
  bool was_killed;
  int last_saved = -1;  // number of the last save that returned
};

Outcome TrainUntil(const std::string& folder, int change, const std::string& form) {
  const std::string command =
      StrCat("exec training/checkpoint/save_and_die ", folder, " ", change, " 2 ", form);
  FILE* output = popen(command.c_str(), "r");
  Outcome outcome{};
  int saved;
  while (std::fscanf(output, "saved %d\n", &saved) == 1) outcome.last_saved = saved;
  const int status = pclose(output);
  outcome.was_killed = WIFSIGNALED(status);
  EXPECT_TRUE(outcome.was_killed || status == 0) << "status " << status;
  return outcome;
}

template <typename T>
std::vector<T> ValuesOf(const BundleReader& reader, const std::string& name) {
  const absl::StatusOr<Tensor> t = reader.Read(name);
  EXPECT_TRUE(t.ok()) << t.status();
  return t.ok() ? std::vector<T>(t->data<T>(), t->data<T>() + t->num_elements()) : std::vector<T>();
}

// Checks the records of the table of save_and_die, and the keys that wait for admission.
void CheckTable(const BundleReader& reader, int step) {
  size_t records = 0, waiting = 0;
  for (const std::string& name : reader.names()) {
    const std::string folder = name.substr(0, name.rfind('/') + 1);
    if (name.ends_with("/rules/steps")) {
      EXPECT_EQ(ValuesOf<int64_t>(reader, name)[0], std::max(step - 1, 0)) << name;
    }
    if (!name.starts_with("t/") || !name.ends_with("/keys")) continue;
    const std::vector<int64_t> keys = ValuesOf<int64_t>(reader, name);
    const std::vector<int64_t> counts = ValuesOf<int64_t>(reader, folder + "counts");
    if (name.find("/rules/waiting-") != name.npos) {
      waiting += keys.size();
      EXPECT_EQ(counts, std::vector<int64_t>(keys.size(), 1)) << name;
      continue;
    }
    records += keys.size();
    EXPECT_EQ(counts, std::vector<int64_t>(keys.size(), step - 1)) << name;
    for (const float x : ValuesOf<float>(reader, folder + "rows")) {
      EXPECT_EQ(x, 10.0f * static_cast<float>(step - 1)) << name;
    }
  }
  // After their first update, the ten keys still wait for admission, too.
  EXPECT_EQ(records, step >= 2 ? 10u : 0u);
  EXPECT_EQ(waiting, static_cast<size_t>(step) + (step == 1 ? 10 : 0));
}

// Checks that the values of the latest checkpoint belong to the step in its name. Returns the step.
int CheckLatest(const std::string& folder, const std::string& form) {
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
  if (form == "tables") CheckTable(**reader, step);
  pb::MetaGraphDef meta;
  EXPECT_TRUE(meta.ParseFromString(ReadWholeFile(MetaGraphName(*latest)).value_or("x")));
  return step;
}

void KillAtEveryChange(const std::string& form, int changes_min) {
  std::string folder = ::testing::TempDir() + "/crash_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_FALSE(TrainUntil(folder, -1, form).was_killed);
  ASSERT_EQ(CheckLatest(folder, form), 2);
  const std::string start = folder + "_start";
  std::filesystem::rename(folder, start);
  int change = 0;
  for (bool was_killed = true; was_killed; ++change) {
    std::filesystem::remove_all(folder);
    std::filesystem::copy(start, folder, std::filesystem::copy_options::recursive);
    // All rounds use the same folder, because paths in the state file are absolute.
    const Outcome outcome = TrainUntil(folder, change, form);
    was_killed = outcome.was_killed;
    const int step = CheckLatest(folder, form);
    EXPECT_GE(step, std::max(2, outcome.last_saved)) << "killed at change " << change;
    // The remains of a killed run must not prevent the next run.
    if (change % 16 == 3) {
      EXPECT_FALSE(TrainUntil(folder, -1, form).was_killed);
      EXPECT_EQ(CheckLatest(folder, form), step + 2);
    }
    if (::testing::Test::HasFailure()) FAIL() << "killed at change " << change;
  }
  // There are three saves, and their files are written in several pieces each.
  EXPECT_GT(change, changes_min);
}

TEST(Crash, AKillAtAnyChangeLeavesTheLastGoodCheckpoint) { KillAtEveryChange("", 60); }
TEST(Crash, AKillAtAnyChangeOfAShardedSaveLeavesTheLastGoodCheckpoint) {
  KillAtEveryChange("sharded", 60);
}
TEST(Crash, AKillAtAnyChangeOfASaveOfTablesLeavesTheLastGoodCheckpoint) {
  KillAtEveryChange("tables", 100);
}

}  // namespace
}  // namespace sluice
