#include "executor/fusion/tile_updates.h"

#include "executor/fusion/delayed.h"
#include "executor/kernel/matrix_tiles.h"
#include "executor/plan/users.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// The fewest elements of a product that is computed tile by tile. Smaller products stay in the
// cache as a whole.
constexpr int64_t kFewestElements = 64 << 10;
constexpr int64_t kFewestProducts = 16;

// An update that computes the product. After the update's own inputs come the product's operands.
class TiledUpdate final : public Kernel {
 public:
  TiledUpdate(Kernel* update, TileTaker* taker, const TileMaker* product)
      : update_(update), taker_(taker), product_(product) {}

  absl::Status Compute(KernelContext& context) override {
    // In an observed step, the product was computed by its own kernel and is an input.
    if (context.input(taker_->tiled_input()).IsInitialized()) return update_->Compute(context);
    const int operands = context.num_inputs() - 2;
    return taker_->ComputeFromTiles(context, *product_, context.input(operands),
                                    context.input(operands + 1));
  }

 private:
  Kernel* const update_;
  TileTaker* const taker_;
  const TileMaker* const product_;
};

// Whether the result is large and the operands are not larger. A product over few elements is
// little work and is better shared element by element.
bool IsWorthTiling(const Node& product) {
  if (product.output_shape(0).num_elements() < kFewestElements) return false;
  if (!OperandsAreSmall(product)) return false;
  const int64_t products = product.input(0).shape().num_elements() / product.output_shape(0).dim(0);
  return products >= kFewestProducts;
}

// The item behind `input`, through identities. -1 if one of them has another reader.
int SourceOf(const DraftBody& body, const std::vector<Users>& users, const DraftInput& input) {
  for (const DraftInput* at = &input;;) {
    if (at->base != ValueRef::kSlot || at->item < 0 || at->is_ref) return -1;
    if (users[at->item].reads != 1) return -1;
    const DraftItem& item = body.items[at->item];
    if (item.kind != OpKind::kPass) return at->item;
    if (item.inputs.size() != 1) return -1;
    at = &item.inputs[0];
  }
}

const TileMaker* MakerOf(const DraftItem& product, const DraftItem& update) {
  const TileMaker* const maker = DelayableMaker(product);
  if (maker == nullptr || !IsWorthTiling(*product.node)) return nullptr;
  if (product.node->assigned_device() != update.node->assigned_device()) return nullptr;
  return maker;
}

}  // namespace

int TileUpdates(DraftBody& body, Draft& draft) {
  const std::vector<Users> users = CountUsers(body);
  int changed = 0;
  for (DraftItem& update : body.items) {
    if (update.kind != OpKind::kKernel) continue;
    auto* const taker = dynamic_cast<TileTaker*>(update.kernel);
    if (taker == nullptr || taker->tiled_input() < 0) continue;
    const int source = SourceOf(body, users, update.inputs[taker->tiled_input()]);
    if (source < 0) continue;
    DraftItem& product = body.items[source];
    const TileMaker* const maker = MakerOf(product, update);
    if (maker == nullptr) continue;
    draft.kernels.push_back(std::make_shared<TiledUpdate>(update.kernel, taker, maker));
    update.kernel = draft.kernels.back().get();
    update.inputs.insert(update.inputs.end(), product.inputs.begin(), product.inputs.end());
    product.kind = OpKind::kDelayed;
    ++changed;
  }
  return changed;
}

}  // namespace sluice
