// Trains, saves after every step, and kills itself before a given change to the file system.
//
//   save_and_die FOLDER CHANGE STEPS [sharded|tables]
//
// Continues from the folder's latest checkpoint. Writes "saved <step>" after each successful save.
// If CHANGE is -1, it never kills itself. In the model, every element of `w` is 10 times the step.
// With "tables", there is also an embedding table `t` in two parts, which admits keys with their
// second update. Each step adds 10 to the rows of keys 0 to 9, and updates key 1000 + step, which
// is never admitted.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "executor/device/device_set.h"
#include "executor/files/files.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/embedding/embedding_table.h"
#include "ops/embedding/row_store.h"
#include "ops/update/builders.h"
#include "training/checkpoint/saver.h"

namespace sluice {
namespace {

// Adds updates of a table, whose keys are fed.
class TableUpdates {
 public:
  explicit TableUpdates(Graph& g)
      : table_(g, "t", 4,
               {.initial_rows = InitialRows::Constant(0),
                .num_shards = kParts,
                .admission = {.after_updates = 2}}),
        step_(Placeholder(g, DT_INT64, {.name = "table_step"})) {
    for (int i = 0; i < kParts; ++i) {
      keys_.push_back(Placeholder(g, DT_INT64, {.name = StrCat("keys_", i)}));
      gradients_.push_back(Placeholder(g, DT_FLOAT, {.name = StrCat("gradients_", i)}));
    }
  }
  std::vector<Operation> Add(Graph& g) const {
    std::vector<Operation> all;
    for (size_t i = 0; i < kParts; ++i) {
      all.push_back(EmbeddingTableApplyGradientDescent(
          table_.shards()[i].handle(), Constant(g, 1.0f), gradients_[i], keys_[i], step_));
    }
    return all;
  }
  std::vector<Feed> FeedsOf(int64_t step) const {
    std::vector<Feed> feeds = {{step_, Tensor::Scalar(step)}};
    for (int i = 0; i < kParts; ++i) {
      std::vector<int64_t> keys;
      for (int64_t key = 0; key < 10; ++key) keys.push_back(key);
      keys.push_back(1000 + step);
      std::erase_if(keys, [i](int64_t key) { return RowStore::ShardOf(key, kParts) != i; });
      Tensor gradients(DT_FLOAT, {static_cast<int64_t>(keys.size()), 4});
      std::fill_n(gradients.data<float>(), gradients.num_elements(), -10.0f);
      feeds.push_back({keys_[static_cast<size_t>(i)], Tensor::Vector<int64_t>(keys)});
      feeds.push_back({gradients_[static_cast<size_t>(i)], gradients});
    }
    return feeds;
  }

 private:
  static constexpr int kParts = 2;
  EmbeddingTable table_;
  Output step_;
  std::vector<Output> keys_, gradients_;
};

absl::Status Train(const std::string& folder, int steps, std::string_view form) {
  Graph g;
  Variable step = GlobalStep(g);
  std::vector<Operation> updates = {step.AssignAdd(Constant(g, int64_t{1}))};
  std::optional<TableUpdates> table;
  if (form == "tables") table.emplace(g);
  for (int device = 0; device < 2; ++device) {
    DeviceScope on(g, StrCat("/device:CPU:", device));
    Variable w(g, StrCat("w", device), {100}, Zeros());
    updates.push_back(w.AssignAdd(Fill(Constant(g, {100}), Constant(g, 10.0f))));
  }
  if (table) {
    for (const Operation& update : table->Add(g)) updates.push_back(update);
  }
  const Output now = step;
  Saver saver(g, {.sharded = form == "sharded", .max_to_keep = 2});
  const Operation init = InitializeVariables(g);
  Session session(g, {.cpu_devices = 2});
  const absl::StatusOr<std::string> latest = LatestCheckpoint(folder);
  if (latest.ok()) {
    SLUICE_RETURN_IF_ERROR(saver.Restore(session, *latest));
    SLUICE_ASSIGN_OR_RETURN(const CheckpointState state, ReadCheckpointState(folder));
    saver.RecoverLastCheckpoints(state.all);
  } else {
    SLUICE_RETURN_IF_ERROR(session.Run({init}));
  }
  int64_t at = 0;
  for (int i = 0; i <= steps; ++i) {
    // Like a CheckpointSaverHook, saves the restored step again.
    if (i > 0) {
      const std::vector<Feed> feeds = table ? table->FeedsOf(at) : std::vector<Feed>();
      SLUICE_RETURN_IF_ERROR(session.Run(feeds, {}, updates).status());
    }
    SLUICE_ASSIGN_OR_RETURN(const Tensors value, session.Run({}, {now}, {}));
    at = value[0].scalar<int64_t>();
    SLUICE_RETURN_IF_ERROR(saver.Save(session, folder + "/m", at).status());
    std::printf("saved %d\n", static_cast<int>(at));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int changes_left = std::atoi(argv[2]);
  if (changes_left >= 0) {
    sluice::SetFileHook([&](const sluice::FileChange&) {
      if (changes_left-- == 0) std::raise(SIGKILL);
      return absl::OkStatus();
    });
  }
  const absl::Status trained = sluice::Train(argv[1], std::atoi(argv[3]), argc > 4 ? argv[4] : "");
  if (!trained.ok()) std::fprintf(stderr, "%s\n", trained.ToString().c_str());
  return trained.ok() ? 0 : 1;
}
