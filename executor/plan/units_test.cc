#include "executor/plan/units.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using testing::ElementsAre;

struct Waits final : AsyncKernel {
  void ComputeAsync(KernelContext&, Done done) override { done(absl::OkStatus()); }
};

class UnitsTest : public testing::Test {
 protected:
  int Item(const std::vector<int>& inputs, OpKind kind = OpKind::kKernel) {
    DraftItem item;
    item.kind = kind;
    for (int from : inputs) item.inputs.push_back({ValueRef::kSlot, 0, from});
    item.output_types = {DT_FLOAT};
    body_.items.push_back(std::move(item));
    body_.order.push_back(static_cast<int>(body_.order.size()));
    return body_.order.back();
  }
  int Async(const std::vector<int>& inputs) {
    const int item = Item(inputs);
    body_.items[item].kernel = &async_;
    return item;
  }

  DraftBody body_;
  Waits async_;
};

TEST_F(UnitsTest, ABodyWithoutBoundariesIsOneSegment) {
  const int a = Item({}), b = Item({a});
  Item({a, b});
  const UnitAssignment units = AssignUnits(body_);
  ASSERT_EQ(units.units.size(), 1);
  EXPECT_EQ(units.units[0].kind, Unit::Kind::kSegment);
  EXPECT_THAT(units.units[0].items, ElementsAre(0, 1, 2));
}

TEST_F(UnitsTest, AnAsynchronousItemSeparatesTheItemsThatWaitForIt) {
  const int source = Item({}), wait = Async({source}), after = Item({wait}), apart = Item({source});
  const UnitAssignment units = AssignUnits(body_);
  ASSERT_EQ(units.units.size(), 3);
  EXPECT_THAT(units.units[units.unit_of[source]].items, ElementsAre(source, apart));
  EXPECT_EQ(units.units[units.unit_of[wait]].kind, Unit::Kind::kAsync);
  EXPECT_THAT(units.units[units.unit_of[after]].items, ElementsAre(after));
}

TEST_F(UnitsTest, ItemsThatWaitForTheSameBoundariesShareASegment) {
  const int p = Async({}), q = Async({});
  const int of_p = Item({p}), of_both = Item({p, q}), of_q = Item({q}), of_both_too = Item({q, p});
  const UnitAssignment units = AssignUnits(body_);
  EXPECT_EQ(units.units.size(), 5);
  EXPECT_NE(units.unit_of[of_p], units.unit_of[of_q]);
  EXPECT_EQ(units.unit_of[of_both], units.unit_of[of_both_too]);
}

TEST_F(UnitsTest, AMergeIsAUnitIfItsInputsArriveAtDifferentTimes) {
  const int p = Async({}), q = Async({});
  const int together = Item({p, p}, OpKind::kMerge), apart = Item({p, q}, OpKind::kMerge);
  const UnitAssignment units = AssignUnits(body_);
  EXPECT_EQ(units.units[units.unit_of[together]].kind, Unit::Kind::kSegment);
  EXPECT_TRUE(units.units[units.unit_of[together]].may_be_dead);
  EXPECT_EQ(units.units[units.unit_of[apart]].kind, Unit::Kind::kMerge);
}

TEST_F(UnitsTest, AnItemThatWaitsForManyBoundariesBecomesOne) {
  std::vector<int> boundaries;
  for (int i = 0; i < 40; ++i) boundaries.push_back(Async({}));
  const int join = Item(boundaries), after = Item({join});
  const UnitAssignment units = AssignUnits(body_);
  EXPECT_THAT(units.units[units.unit_of[join]].items, ElementsAre(join));
  EXPECT_THAT(units.units[units.unit_of[after]].items, ElementsAre(after));
}

}  // namespace
}  // namespace sluice
