#include "executor/plan/slots.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Waits final : AsyncKernel {
  void ComputeAsync(KernelContext&, Done done) override { done(absl::OkStatus()); }
};

class SlotsTest : public testing::Test {
 protected:
  int Item(const std::vector<int>& inputs, DataType type = DT_FLOAT) {
    DraftItem item;
    for (int from : inputs) {
      const bool is_ref = IsRefType(body_.items[from].output_types[0]);
      item.inputs.push_back({ValueRef::kSlot, 0, from, is_ref});
    }
    item.output_types = {type};
    body_.items.push_back(std::move(item));
    body_.order.push_back(static_cast<int>(body_.order.size()));
    return body_.order.back();
  }
  int Async(const std::vector<int>& inputs) {
    const int item = Item(inputs);
    body_.items[item].kernel = &async_;
    return item;
  }
  SlotPlan Slots() { return AssignSlots(body_, AssignUnits(body_)); }

  DraftBody body_;
  Waits async_;
};

TEST_F(SlotsTest, AChainOfOneUnitReusesTwoSlots) {
  int last = Item({});
  for (int i = 0; i < 10; ++i) last = Item({last});
  const SlotPlan plan = Slots();
  EXPECT_EQ(plan.num_slots, 2);
  EXPECT_THAT(plan.items[last].releases,
              ElementsAre(plan.items[last].first_output, plan.items[last - 1].first_output));
}

TEST_F(SlotsTest, OnlyTheLastReaderMayTakeAValueOver) {
  const int a = Item({}), first = Item({a}), last = Item({a});
  const SlotPlan plan = Slots();
  EXPECT_EQ(plan.items[first].movable, 0);
  EXPECT_EQ(plan.items[last].movable, 1);
}

TEST_F(SlotsTest, AnInputThatANodeReadsTwiceIsNotMovable) {
  const int a = Item({}), twice = Item({a, a});
  const SlotPlan plan = Slots();
  EXPECT_EQ(plan.items[twice].movable, 0);
  EXPECT_EQ(plan.items[twice].inputs[0].index, plan.items[twice].inputs[1].index);
}

TEST_F(SlotsTest, EachUnitThatReadsAValueHasACopyThatItMayTakeOver) {
  const int a = Item({}), p = Async({a}), q = Async({a});
  const SlotPlan plan = Slots();
  const uint32_t original = plan.items[a].first_output;
  EXPECT_EQ(plan.items[p].inputs[0].index, original);
  EXPECT_NE(plan.items[q].inputs[0].index, original);
  EXPECT_EQ(plan.items[p].movable, 1);
  EXPECT_EQ(plan.items[q].movable, 1);
  ASSERT_EQ(plan.copies[0].size(), 1);
  EXPECT_EQ(plan.copies[0][0].from, original);
  EXPECT_EQ(plan.copies[0][0].to, plan.items[q].inputs[0].index);
}

// The time must be linear in the number of readers. With a comparison of each reader with all
// others, this test would take seconds.
TEST_F(SlotsTest, AValueMayHaveManyReaders) {
  constexpr int kReaders = 100'000;
  const int a = Item({});
  std::set<uint32_t> slots;
  for (int i = 0; i < kReaders; ++i) Async({a, a});
  const SlotPlan plan = Slots();
  for (int reader = a + 1; reader <= kReaders; ++reader) {
    const std::vector<ValueRef>& inputs = plan.items[reader].inputs;
    EXPECT_EQ(inputs[0].index, inputs[1].index);
    slots.insert(inputs[0].index);
  }
  EXPECT_EQ(slots.size(), kReaders);
  EXPECT_EQ(plan.copies[0].size(), kReaders - 1);
}

TEST_F(SlotsTest, AllUnitsReadAHandleInOneSlotUntilTheStepEnds) {
  const int handle = Item({}, DT_RESOURCE), p = Async({handle}), q = Async({handle});
  const SlotPlan plan = Slots();
  EXPECT_THAT(plan.handles, ElementsAre(plan.items[handle].first_output));
  EXPECT_EQ(plan.items[p].inputs[0].index, plan.items[q].inputs[0].index);
  EXPECT_EQ(plan.items[p].movable, 0);
  EXPECT_THAT(plan.copies[0], IsEmpty());
}

TEST_F(SlotsTest, ASlotOfAReferenceIsNotReused) {
  const int ref = Item({}, MakeRefType(DT_FLOAT)), value = Item({ref}), next = Item({value});
  const SlotPlan plan = Slots();
  EXPECT_NE(plan.items[value].first_output, plan.items[ref].first_output);
  EXPECT_NE(plan.items[next].first_output, plan.items[ref].first_output);
}

}  // namespace
}  // namespace sluice
