#include "executor/kernel/made_of_constant.h"

#include <memory>
#include <utility>

#include "graph/ir/constant.h"

namespace sluice {
namespace {

Tensor ConstantOf(const Output& input) {
  const Tensor* constant = ConstantBehind(input);
  if (constant == nullptr) return {};
  return *constant;
}

}  // namespace

MadeOfConstant::MadeOfConstant(const KernelInit& init, int i)
    : constant_(ConstantOf(init.node().input(i))) {}

const Tensor* MadeOfConstant::Get(const Tensor& input,
                                  absl::FunctionRef<absl::StatusOr<Tensor>()> make) {
  if (!IsOf(input)) return nullptr;
  if (const Tensor* made = made_.load(std::memory_order_acquire)) return made;
  if (!is_used_.exchange(true, std::memory_order_relaxed)) return nullptr;
  absl::StatusOr<Tensor> tensor = make();
  if (!tensor.ok()) return nullptr;
  auto made = std::make_unique<const Tensor>(*std::move(tensor));
  const Tensor* before = nullptr;  // another step may have been faster
  if (!made_.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) return before;
  return made.release();
}

}  // namespace sluice
