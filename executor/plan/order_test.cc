#include "executor/plan/order.h"

#include "executor/plan/draft.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using testing::ElementsAre;

class OrderTest : public testing::Test {
 protected:
  int Item(const std::vector<int>& inputs, const std::vector<int>& controls = {}) {
    DraftItem item;
    for (int from : inputs) item.inputs.push_back({ValueRef::kSlot, 0, from});
    item.controls = controls;
    item.output_types = {DT_FLOAT};
    body_.items.push_back(std::move(item));
    return static_cast<int>(body_.items.size()) - 1;
  }
  DraftBody body_;
};

TEST_F(OrderTest, TheItemThatBecameReadyLastRunsFirst) {
  const int a = Item({}), b = Item({});
  const int of_a = Item({a}), of_b = Item({b}), then = Item({of_b});
  EXPECT_THAT(ExecutionOrder(body_), ElementsAre(a, b, of_b, then, of_a));
}

TEST_F(OrderTest, AnItemComesAfterItsControlInputs) {
  const int a = Item({}), late = Item({}), first = Item({a}, {late});
  EXPECT_THAT(ExecutionOrder(body_), ElementsAre(a, late, first));
}

TEST_F(OrderTest, ItemsThatAnotherItemComputesAreLeftOut) {
  const int a = Item({}), inner = Item({}), last = Item({a});
  body_.items[inner].is_fused_away = true;
  EXPECT_THAT(ExecutionOrder(body_), ElementsAre(a, last));
}

TEST_F(OrderTest, CyclicItemsHaveNoOrder) {
  const int a = Item({}), b = Item({a, 2});
  Item({b});
  EXPECT_THAT(ExecutionOrder(body_), ElementsAre(a));
  EXPECT_FALSE(OrderItems(body_));
}

}  // namespace
}  // namespace sluice
