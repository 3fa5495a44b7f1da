#include "training/session/session_creator.h"

#include <utility>

#include "graph/status.h"
#include "training/session/session_manager.h"

namespace sluice {
namespace {

SessionManagerOptions ManagerOptions(const Scaffold& scaffold) {
  return {.local_init_op = scaffold.local_init_op(),
          .local_init_feeds = scaffold.local_init_feeds(),
          .ready_op = scaffold.ready_op(),
          .ready_for_local_init_op = scaffold.ready_for_local_init_op()};
}

}  // namespace

ChiefSessionCreator::ChiefSessionCreator(ChiefSessionCreatorOptions options)
    : options_(std::move(options)) {
  if (!options_.scaffold) options_.scaffold = std::make_shared<Scaffold>();
}

absl::StatusOr<std::unique_ptr<Session>> ChiefSessionCreator::CreateSession(
    Graph& graph, CancellationManager* cancellation) {
  Scaffold& scaffold = *options_.scaffold;
  SLUICE_RETURN_IF_ERROR(scaffold.Finalize(graph));
  const SessionManager manager(ManagerOptions(scaffold));
  return manager.PrepareSession(
      graph, options_.target,
      {.init_op = scaffold.init_op(),
       .init_feeds = scaffold.init_feeds(),
       .init_fn = scaffold.init_fn(),
       .restore = {.saver = scaffold.saver().get(),
                   .checkpoint_dir = options_.checkpoint_dir,
                   .checkpoint_filename_with_path = options_.checkpoint_filename_with_path},
       .cancellation = cancellation});
}

WorkerSessionCreator::WorkerSessionCreator(WorkerSessionCreatorOptions options)
    : options_(std::move(options)) {
  if (!options_.scaffold) options_.scaffold = std::make_shared<Scaffold>();
}

absl::StatusOr<std::unique_ptr<Session>> WorkerSessionCreator::CreateSession(
    Graph& graph, CancellationManager* cancellation) {
  Scaffold& scaffold = *options_.scaffold;
  SLUICE_RETURN_IF_ERROR(scaffold.Finalize(graph));
  SessionManagerOptions manager = ManagerOptions(scaffold);
  manager.recovery_wait = options_.recovery_wait;
  manager.clock = options_.clock;
  return SessionManager(std::move(manager))
      .WaitForSession(graph, options_.target, options_.max_wait, cancellation);
}

}  // namespace sluice
