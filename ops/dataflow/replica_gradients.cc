#include "ops/dataflow/replica_gradients.h"

#include <algorithm>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

std::string ReplicaGradients::MissingText(const std::vector<int>& present) const {
  // A gradient without a replica number may be from any replica, so no replica is known to be
  // missing.
  if (std::any_of(present.begin(), present.end(), [](int r) { return r < 0; })) return "";
  std::string text;
  int missing = 0;
  for (int r = 0; r < replicas; ++r) {
    if (std::find(present.begin(), present.end(), r) != present.end()) continue;
    StrAppend(&text, missing == 0 ? "" : ", ", r);
    ++missing;
  }
  if (missing == 0) return "";
  return StrCat("; none yet of replica", missing == 1 ? " " : "s ", text);
}

absl::Status AnotherChiefStarted(const std::string& waited_for) {
  return absl::FailedPreconditionError(
      StrCat(waited_for, ": another chief has started, and takes the gradients"));
}

absl::StatusOr<std::shared_ptr<GradientLedger>> LedgerNamed(KernelInit& init,
                                                            const std::string& name, int replicas) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<GradientLedger> ledger,
                          init.resources().LookupOrCreate<GradientLedger>(
                              "", name, [&]() -> absl::StatusOr<std::shared_ptr<GradientLedger>> {
                                return std::make_shared<GradientLedger>(name, replicas);
                              }));
  if (ledger->num_replicas() == replicas) return ledger;
  return InvalidArgument(init.node().Describe(), ": expected a ledger '", name, "' of ", replicas,
                         " replicas, got one of ", ledger->num_replicas());
}

absl::StatusOr<ReplicaGradients> ReplicaGradientsOf(KernelInit& init) {
  ReplicaGradients settings;
  const int64_t replicas = init.AttrOr<int64_t>(kReplicasAttr, 0);
  SLUICE_INVALID_IF(replicas < 0 || replicas > GradientLedger::kReplicasMax, init.node().Describe(),
                    ": expected ", kReplicasAttr, " in [0, ", GradientLedger::kReplicasMax,
                    "], got ", replicas);
  settings.replicas = static_cast<int>(replicas);
  settings.at_most = init.AttrOr<int64_t>(kGradientsAttr, 0);
  settings.in_replica_order = init.AttrOr<bool>(kInReplicaOrderAttr, false);
  const std::string ledger = init.AttrOr<std::string>(kLedgerAttr, "");
  if (!ledger.empty()) {
    SLUICE_ASSIGN_OR_RETURN(settings.ledger, LedgerNamed(init, ledger, settings.replicas));
  }
  return settings;
}

}  // namespace sluice
