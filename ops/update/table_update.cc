#include "ops/update/table_update.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "executor/cpu/loop_costs.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/embedding/row_store.h"
#include "ops/state/named_resource.h"
#include "ops/update/rule_inputs.h"

namespace sluice {
namespace {

class TableUpdateKernel : public Kernel {
 public:
  TableUpdateKernel(const KernelInit& init, const UpdateRule& rule, double cost,
                    UpdateFunction function)
      : rule_(rule),
        cost_(cost),
        function_(function),
        dtype_(init.attr<DataType>("T")),
        flag_(!rule.flag.empty() && init.attr<bool>(rule.flag)),
        inputs_(rule, init.node().def(), "keys"),
        step_input_(init.node().def().InputIndex("step")) {}

  absl::Status Compute(KernelContext& c) override;

 private:
  absl::Status Check(const KernelContext& c, const RowStore& store) const;
  absl::Status Run(KernelContext& c, RowStore& store, const UpdateData& data, int64_t step) const;

  const UpdateRule& rule_;
  const double cost_;  // nanoseconds per element
  const UpdateFunction function_;
  const DataType dtype_;
  const bool flag_;
  const RuleInputs inputs_;
  const int step_input_;
};

absl::Status TableUpdateKernel::Check(const KernelContext& c, const RowStore& store) const {
  SLUICE_INVALID_IF(store.options().dtype != dtype_ || store.slots() != rule_.num_slots(),
                    c.node().Describe(), ": expected a table of ", DataTypeName(dtype_),
                    " rows with ", rule_.num_slots(), " slots, got one of ",
                    DataTypeName(store.options().dtype), " rows with ", store.slots());
  const Tensor& grad = c.input(inputs_.gradient());
  const Tensor& keys = c.input(inputs_.rows());
  const TensorShape expected({keys.num_elements(), store.options().dim});
  SLUICE_INVALID_IF(!keys.shape().IsVector() || grad.shape() != expected, c.node().Describe(),
                    ": expected keys of shape [n] and grad of shape [n,", store.options().dim,
                    "], got ", keys.shape().ToString(), " and ", grad.shape().ToString());
  SLUICE_INVALID_IF(!c.input(step_input_).shape().IsScalar(), c.node().Describe(),
                    ": expected a scalar step, got shape ",
                    c.input(step_input_).shape().ToString());
  return absl::OkStatus();
}

absl::Status TableUpdateKernel::Compute(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto store, BorrowNamed<RowStore>(c, 0));
  SLUICE_RETURN_IF_ERROR(Check(c, *store));
  UpdateData data;
  data.flag = flag_;
  SLUICE_RETURN_IF_ERROR(inputs_.ReadScalars(c, &data));
  const auto step = c.input(step_input_).scalar<int64_t>();
  return Run(c, *store, data, store->BeginUpdate(step));
}

// Divides the keys into shares by their hash. One thread processes a share, and updates equal keys
// in the order of the batch, so the result does not depend on the number of threads. A share is a
// range of the hashes in this part of the table. So all keys of a block of the table's filter
// (ops/embedding/admission.h) are in one share, unless there are many shares.
absl::Status TableUpdateKernel::Run(KernelContext& c, RowStore& store, const UpdateData& data,
                                    int64_t step) const {
  const Tensor& keys_input = c.input(inputs_.rows());
  const RowStore::Keys keys(keys_input.data<int64_t>(),
                            static_cast<size_t>(keys_input.num_elements()));
  const char* grad = static_cast<const char*>(c.input(inputs_.gradient()).raw());
  const int64_t dim = store.options().dim;
  const auto apply = [&](int64_t position, void* row, char* slots) {
    UpdateData one = data;
    one.grad = grad + position * store.row_bytes();
    one.slots[0] = row;
    for (int s = 0; s < rule_.num_slots(); ++s) one.slots[1 + s] = slots + s * store.slot_stride();
    function_(one, 0, dim);
  };
  const double cost = (100 + cost_ * static_cast<double>(dim)) * static_cast<double>(keys.size());
  const auto parts = static_cast<uint64_t>(store.options().num_shards);
  const int shares = cost < 2 * kWorthSharingNs ? 1 : std::max(1, c.num_threads());
  Mutex mutex;
  absl::Status status;
  c.ParallelFor(shares, cost / shares, [&](int64_t begin, int64_t end) {
    for (int64_t share = begin; share < end; ++share) {
      std::vector<int64_t> positions;
      positions.reserve(keys.size() / static_cast<size_t>(shares) + 16);
      for (size_t i = 0; i < keys.size(); ++i) {
        const int64_t part = RowStore::ShardOf(keys[i], parts * static_cast<uint64_t>(shares));
        const bool is_own = part % shares == share;
        if (is_own) positions.push_back(static_cast<int64_t>(i));
      }
      const absl::Status done = store.Update(keys, positions, step, apply);
      ScopedLock lock(&mutex);
      status.Update(done);
    }
  });
  return status;
}

}  // namespace

void RegisterTableUpdateKernel(const UpdateRule& rule, DataType dtype, double cost,
                               UpdateFunction function) {
  if (dtype != DT_FLOAT && dtype != DT_HALF && dtype != DT_BFLOAT16) return;
  KernelRegistry::Global().Add(
      {.op = rule.TableOpName(),
       .constraints = {{"T", TypeSet(dtype)}},
       .make = [&rule, cost,
                function](KernelInit& init) -> absl::StatusOr<std::unique_ptr<Kernel>> {
         return std::make_unique<TableUpdateKernel>(init, rule, cost, function);
       }});
}

}  // namespace sluice
