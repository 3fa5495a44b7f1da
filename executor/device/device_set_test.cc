#include "executor/device/device_set.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

struct Thing final : public Resource {
  static constexpr const char* kTypeName = "Thing";
  std::string DebugString() const override { return "a thing"; }
  std::shared_ptr<DeviceSet> devices;
};

std::shared_ptr<Thing> Make(Device& device) {
  return *device.resources->LookupOrCreate<Thing>("", "thing",
                                                  [] { return std::make_shared<Thing>(); });
}

TEST(DeviceSetTest, ABorrowedSetBeginsWithTheDeviceAndHasItsTaskAndState) {
  const auto set = DeviceSet::Cpus(3, "/job:ps/replica:0/task:2");
  ASSERT_TRUE(Make(set->device(1)));
  const auto borrowed =
      DeviceSet::Borrow(*set->device(1).resources, "/job:a/replica:0/task:5/device:CPU:1");
  ASSERT_TRUE(borrowed.ok()) << borrowed.status();
  EXPECT_THAT((*borrowed)->names(), ElementsAre("/job:a/replica:0/task:5/device:CPU:1",
                                                "/job:a/replica:0/task:5/device:CPU:0",
                                                "/job:a/replica:0/task:5/device:CPU:2"));
  EXPECT_EQ((*borrowed)->device(0).spec.task, 5);
  EXPECT_EQ((*borrowed)->device(0).incarnation, set->device(1).incarnation);
  EXPECT_TRUE((*borrowed)->device(0).resources->Lookup<Thing>("", "thing").ok());
}

TEST(DeviceSetTest, ASetWithOwnStateLendsItsOwnState) {
  const auto set = DeviceSet::Cpus(1);
  const auto own = DeviceSet::WithOwnState(*DeviceSet::Renamed(*set, "/job:b/replica:0/task:0"));
  EXPECT_THAT(own->names(), ElementsAre("/job:b/replica:0/task:0/device:CPU:0"));
  Make(own->device(0));
  EXPECT_FALSE(set->device(0).resources->Lookup<Thing>("", "thing").ok());
  const auto borrowed = DeviceSet::Borrow(*own->device(0).resources, own->names()[0]);
  ASSERT_TRUE(borrowed.ok()) << borrowed.status();
  EXPECT_TRUE((*borrowed)->device(0).resources->Lookup<Thing>("", "thing").ok());
}

TEST(DeviceSetTest, ResourcesEndWithTheSetThatMadeThemEvenIfTheyBorrowIt) {
  auto set = DeviceSet::Cpus(1);
  std::weak_ptr<Thing> thing;
  {
    const auto made = Make(set->device(0));
    made->devices = *DeviceSet::Borrow(*set->device(0).resources, set->names()[0]);
    thing = made;
  }
  DeviceSet::Renamed(*set, "/job:b/replica:0/task:0").reset();
  EXPECT_FALSE(thing.expired());
  set.reset();
  EXPECT_TRUE(thing.expired());
}

// A client names the containers that a reset clears.
TEST(DeviceSetTest, AResetLeavesTheResourcesOfTheTask) {
  const auto set = DeviceSet::Cpus(1);
  ResourceManager& manager = *set->device(0).resources;
  Make(set->device(0));
  const auto own = std::make_shared<Thing>();
  for (const char* container : {"_task", "__session_tensors"}) {
    ASSERT_TRUE(manager.LookupOrCreate<Thing>(container, "own", [&] { return own; }).ok());
    ResetContainers(*set, {container});
    EXPECT_TRUE(manager.Lookup<Thing>(container, "own").ok()) << container;
  }
  EXPECT_TRUE(TaskDevices::Of(manager).ok());
  EXPECT_TRUE(manager.Lookup<Thing>("", "thing").ok());
  ResetContainers(*set, {});
  EXPECT_FALSE(manager.Lookup<Thing>("", "thing").ok());
  EXPECT_TRUE(TaskDevices::Of(manager).ok());
}

TEST(DeviceSetTest, AManagerOfNoSetLendsNothing) {
  ResourceManager alone;
  EXPECT_EQ(DeviceSet::Borrow(alone, "/job:a/task:0/device:CPU:0").status().code(),
            absl::StatusCode::kNotFound);
  auto set = DeviceSet::Cpus(1);
  const std::shared_ptr<ResourceManager> left = set->device(0).resources;
  set.reset();
  EXPECT_EQ(DeviceSet::Borrow(*left, "/job:a/task:0/device:CPU:0").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sluice
