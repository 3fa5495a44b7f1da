// Trains, saves after every step, and kills itself before a given change to the file system.
//
//   save_and_die FOLDER CHANGE STEPS [sharded]
//
// Continues from the folder's latest checkpoint. Writes "saved <step>" after each successful save.
// CHANGE -1: never. In the model, every element of `w` is 10 times the step.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "executor/device/device_set.h"
#include "executor/files/files.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "training/checkpoint/saver.h"

namespace sluice {
namespace {

absl::Status Train(const std::string& folder, int steps, bool sharded) {
  Graph g;
  Variable step = GlobalStep(g);
  std::vector<Operation> updates = {step.AssignAdd(Constant(g, int64_t{1}))};
  for (int device = 0; device < 2; ++device) {
    DeviceScope on(g, StrCat("/device:CPU:", device));
    Variable w(g, StrCat("w", device), {100}, Zeros());
    updates.push_back(w.AssignAdd(Fill(Constant(g, {100}), Constant(g, 10.0f))));
  }
  const Output now = step;
  Saver saver(g, {.sharded = sharded, .max_to_keep = 2});
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
  for (int i = 0; i <= steps; ++i) {
    // The restored step is saved again, as a CheckpointSaverHook does.
    if (i > 0) SLUICE_RETURN_IF_ERROR(session.Run(updates));
    SLUICE_ASSIGN_OR_RETURN(const Tensors value, session.Run({}, {now}, {}));
    const int64_t at = value[0].scalar<int64_t>();
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
  const absl::Status trained = sluice::Train(argv[1], std::atoi(argv[3]),
                                             argc > 4 && std::string_view(argv[4]) == "sharded");
  if (!trained.ok()) std::fprintf(stderr, "%s\n", trained.ToString().c_str());
  return trained.ok() ? 0 : 1;
}
