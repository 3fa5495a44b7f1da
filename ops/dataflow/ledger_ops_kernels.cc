// Kernels of the ops for the ledger of gradients (ledger_ops.cc).
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/gradient_ledger.h"
#include "ops/dataflow/replica_gradients.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

struct LedgerKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const int64_t requested = init.attr<int64_t>("num_replicas");
    SLUICE_INVALID_IF(requested > GradientLedger::kReplicasMax, init.node().Describe(),
                      ": expected at most ", GradientLedger::kReplicasMax, " replicas, got ",
                      requested);
    const int replicas = static_cast<int>(requested);
    return MakeNamedResourceKernel<GradientLedger>(
        init,
        [&](const ResourceName& name) -> absl::StatusOr<std::shared_ptr<GradientLedger>> {
          return std::make_shared<GradientLedger>(name.name, replicas);
        },
        [&](const GradientLedger& found) -> absl::Status {
          if (found.num_replicas() == replicas) return absl::OkStatus();
          return InvalidArgument(init.node().Describe(), ": expected a ledger of ", replicas,
                                 " replicas behind this name, got one of ", found.num_replicas());
        });
  }
};

absl::StatusOr<int64_t> Number(const KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  SLUICE_INVALID_IF(!t.shape().IsScalar(), c.node().Describe(), ": expected ", name,
                    " to be a scalar, got shape ", t.shape().ToString());
  return t.dtype() == DT_INT32 ? t.scalar<int32_t>() : t.scalar<int64_t>();
}

class EnterKernel : public Kernel {
 public:
  explicit EnterKernel(KernelInit& init) : gradients_(init.attr<int64_t>("gradients")) {
    const std::string& outcome = init.attr<std::string>("outcome");
    outcome_ = outcome == "applied"   ? GradientLedger::kApplied
               : outcome == "surplus" ? GradientLedger::kSurplus
                                      : GradientLedger::kStale;
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const auto ledger, LookupNamed<GradientLedger>(c, 0));
    SLUICE_ASSIGN_OR_RETURN(const int64_t step, Number(c, 1, "step"));
    SLUICE_ASSIGN_OR_RETURN(const int64_t replica, Number(c, 2, "replica"));
    ledger->Enter(step, ReplicaOf(replica), outcome_, gradients_);
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const int64_t gradients_;
  GradientLedger::Outcome outcome_;
};

absl::Status SetTable(KernelContext& c, Tensor table, int64_t rows, std::string_view what) {
  if (!table.IsInitialized()) {
    return absl::ResourceExhaustedError(
        StrCat(c.node().Describe(), ": expected memory for ", rows, " ", what, ", got none"));
  }
  c.set_output(0, std::move(table));
  return absl::OkStatus();
}

absl::Status Totals(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto ledger, LookupNamed<GradientLedger>(c, 0));
  return SetTable(c, ledger->Totals(), ledger->num_replicas(), "replicas");
}

absl::Status Updates(KernelContext& c, Attr<int64_t, "num_updates"> num_updates) {
  SLUICE_ASSIGN_OR_RETURN(const auto ledger, LookupNamed<GradientLedger>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const int64_t first, Number(c, 1, "first_step"));
  return SetTable(c, ledger->Updates(first, num_updates), num_updates, "updates");
}

KERNEL(GradientLedger, LedgerKernel);
KERNEL(GradientLedgerEnter, EnterKernel);
KERNEL(GradientLedgerTotals, CheapFunctionKernel<Totals>);
KERNEL(GradientLedgerUpdates, CheapFunctionKernel<Updates>);

}  // namespace
}  // namespace sluice
