#include "training/sync/sync_replicas_hook.h"

#include <algorithm>

#include "executor/wait/cancellation.h"
#include "graph/status.h"
#include "training/session/global_step_read.h"
#include "training/sync/check_progress.h"

namespace sluice {
absl::Status SyncReplicasHook::Begin(Graph& graph) {
  if (!optimizer_.gradients_applied()) {
    return absl::FailedPreconditionError(
        "SyncReplicasOptimizer.apply_gradient should be called before using the hook.");
  }
  local_init_ = optimizer_.LocalInitOp(is_chief_);
  if (report_) local_step_ = optimizer_.LocalStep();
  if (report_ || is_chief_) global_step_ = optimizer_.global_step()->Read();
  if (!is_chief_) {
    leave_ = optimizer_.LeaveOp();
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(runner_, optimizer_.ChiefQueueRunner());
  forget_undone_tokens_ = optimizer_.ForgetUndoneTokensOp();
  SLUICE_ASSIGN_OR_RETURN(init_tokens_, optimizer_.InitTokensOp(num_tokens_));
  if (!optimizer_.options().deterministic) give_tokens_ = optimizer_.GiveTokensOp();
  if (optimizer_.options().on_lost_replica == OnLostReplica::kShrink) {
    SLUICE_ASSIGN_OR_RETURN(resize_, optimizer_.MakeResize());
  }
  if (report_) ledger_ = optimizer_.LedgerTotals();
  StartsQueueRunner(graph, runner_->queue_name);
  return CheckProgress(optimizer_, {.init_tokens = init_tokens_, .runs_queue_runner = true});
}

absl::Status SyncReplicasHook::CheckReady(Session& session) const {
  SLUICE_ASSIGN_OR_RETURN(Tensors report,
                          session.Run({}, {optimizer_.ready_for_local_init_op()}, {}));
  if (report[0].num_elements() == 0) return absl::OkStatus();
  std::string names;
  for (const std::string& name : report[0].flat<std::string>()) {
    StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return absl::FailedPreconditionError(
      StrCat("Init operations did not make model ready for SyncReplicasOptimizer local_init. Init "
             "op: ",
             local_init_.name(), ", error: Variables not initialized: ", names));
}

absl::Status SyncReplicasHook::AfterCreateSession(Session& session, Coordinator& coordinator) {
  SLUICE_RETURN_IF_ERROR(CheckReady(session));
  SLUICE_RETURN_IF_ERROR(session.Run({local_init_}));
  if (!is_chief_) return absl::OkStatus();
  WatchReplicas();
  SLUICE_RETURN_IF_ERROR(PutFirstTokens(session));
  runner_->Start(session, coordinator);
  if (lost_ != nullptr) ActOnLostReplicas(session, coordinator);
  return absl::OkStatus();
}

// If training continues from a checkpoint, puts as many tokens as after an update, because replicas
// may wait for tokens that were lost with the previous chief.
absl::Status SyncReplicasHook::PutFirstTokens(Session& session) const {
  SLUICE_RETURN_IF_ERROR(session.Run({forget_undone_tokens_}));
  SLUICE_ASSIGN_OR_RETURN(const Tensors step, session.Run({}, {global_step_}, {}));
  const bool continues = StepOf(step[0]) > 0 && give_tokens_;
  return session.Run({continues ? give_tokens_ : init_tokens_});
}

// Watches the replicas from the first session to the end, so that no change between two sessions is
// missed.
void SyncReplicasHook::WatchReplicas() {
  if (!optimizer_.options().watch) return;
  if (lost_ == nullptr) {
    lost_ = std::make_shared<LostReplicas>(optimizer_.name(), optimizer_.options().on_lost_replica,
                                           optimizer_.total_num_replicas());
    watch_ =
        optimizer_.options().watch([lost = lost_](const ReplicaNews& news) { lost->Hear(news); });
  }
  lost_->Start();
}

void SyncReplicasHook::ActOnLostReplicas(Session& session, Coordinator& coordinator) {
  auto cancellation = std::make_shared<CancellationManager>();
  coordinator.OnStop([lost = lost_, cancellation] {
    lost->Stop();
    cancellation->StartCancel();
  });
  coordinator.Start("lost replicas", [this, &session, cancellation] {
    return lost_->Run([&](int replicas, bool one_was_lost) {
      return Resize(session, replicas, one_was_lost, cancellation.get());
    });
  });
}

absl::Status SyncReplicasHook::Resize(Session& session, int replicas, bool one_was_lost,
                                      CancellationManager* cancellation) const {
  const int32_t replicas_to_aggregate = optimizer_.options().GradientsPerUpdate(replicas);
  const int32_t tokens = std::max(replicas_to_aggregate, int32_t{replicas});
  const RunOptions options = {.cancellation = cancellation};
  SLUICE_RETURN_IF_ERROR(
      session
          .Run({{resize_->replicas_to_aggregate, Tensor::Scalar(replicas_to_aggregate)},
                {resize_->tokens, Tensor::Scalar(tokens)}},
               {}, {resize_->op}, options)
          .status());
  if (!one_was_lost) return absl::OkStatus();
  return session.Run({}, {}, {give_tokens_}, options).status();
}

absl::Status SyncReplicasHook::End(Session& session) {
  // Ignores the error of a closed queue: then all replicas end, and none needs the token.
  if (leave_) session.Run({leave_}).IgnoreError();
  return report_ ? Report(session) : absl::OkStatus();
}

absl::Status SyncReplicasHook::Report(Session& session) const {
  SLUICE_ASSIGN_OR_RETURN(const Tensors steps, session.Run({}, {local_step_, global_step_}, {}));
  report_(StrCat("local step ", StepOf(steps[0]), ", global step ", StepOf(steps[1])));
  if (!ledger_) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensors totals, session.Run({}, {ledger_}, {}));
  report_(LedgerText(totals[0]));
  return absl::OkStatus();
}

}  // namespace sluice
