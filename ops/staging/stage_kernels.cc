// Kernels of ops on staging areas and staging maps.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/staging/staging_area.h"
#include "ops/staging/staging_map.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

// Finds a staging area or map by name, or makes it, and calls kUse(context, resource, done) with
// it. Each step looks the resource up, because its container may have been cleared.
template <typename R, auto kUse>
class StagingKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ResourceName name, ResourceNameOf(init, true));
    return std::unique_ptr<Kernel>(new StagingKernel(init, std::move(name)));
  }
  void ComputeAsync(KernelContext& c, Done done) override {
    const auto make = [this]() -> absl::StatusOr<std::shared_ptr<R>> {
      if constexpr (std::is_same_v<R, StagingArea>) {
        return std::make_shared<R>(name_.name, limits_);
      } else {
        return std::make_shared<R>(name_.name, limits_, parts_);
      }
    };
    const auto found = c.resources().LookupOrCreate<R>(name_.container, name_.name, make);
    if (!found.ok()) return done(found.status());
    kUse(c, **found, std::move(done));
  }
  bool IsExpensive() const override { return false; }

 private:
  StagingKernel(const KernelInit& init, ResourceName name)
      : name_(std::move(name)),
        limits_{.tuples = init.AttrOr<int64_t>("capacity", 0),
                .bytes = init.AttrOr<int64_t>("memory_limit", 0)},
        parts_(init.AttrOr<std::vector<DataType>>("dtypes", {}).size()) {}
  const ResourceName name_;
  const StagingLimits limits_;
  const size_t parts_;  // tensors in a tuple
};

template <auto kUse>
using AreaKernel = StagingKernel<StagingArea, kUse>;
template <auto kUse>
using MapKernel = StagingKernel<StagingMap, kUse>;
template <auto kUse>
using OrderedMapKernel = StagingKernel<OrderedStagingMap, kUse>;

// --- areas

StagingArea::Taken ToOutputs(KernelContext& c, AsyncKernel::Done done) {
  return [&c, done = std::move(done)](absl::StatusOr<Tensors> values) {
    if (!values.ok()) return done(values.status());
    SetOutputs(c, 0, *std::move(values));
    done(absl::OkStatus());
  };
}

void Stage(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  area.Put(CallerOf(c), InputsFrom(c, 0), std::move(done));
}

void Unstage(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  area.Take(CallerOf(c), OutputTypesFrom(c, 0), ToOutputs(c, std::move(done)));
}

void StagePeek(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  const Tensor& index = c.input(0);
  if (!index.shape().IsScalar()) return done(InvalidArgument("index must be scalar"));
  if (index.scalar<int32_t>() < 0) {
    return done(InvalidArgument("index must be >= 0, got ", index.scalar<int32_t>()));
  }
  area.Peek(CallerOf(c), index.scalar<int32_t>(), OutputTypesFrom(c, 0),
            ToOutputs(c, std::move(done)));
}

void StageSize(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  done(SetScalarOutput(c, static_cast<int32_t>(area.size())));
}

void StageClear(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  area.Clear();
  done(absl::OkStatus());
}

KERNEL(Stage, AreaKernel<Stage>);
KERNEL(StageClear, AreaKernel<StageClear>);
KERNEL(StagePeek, AreaKernel<StagePeek>);
KERNEL(StageSize, AreaKernel<StageSize>);
KERNEL(Unstage, AreaKernel<Unstage>);

// --- maps

// Returns the key of a MapStage, which may have any shape with one element.
absl::StatusOr<int64_t> KeyToStage(const KernelContext& c) {
  const Tensor& key = c.input(0);
  SLUICE_INVALID_IF(key.num_elements() == 0, "key must not be empty");
  if (key.num_elements() == 1) return key.scalar<int64_t>();
  return InvalidArgument("key must be an int64 scalar, got tensor with shape: ",
                         key.shape().ToString());
}

absl::StatusOr<int64_t> KeyOf(const KernelContext& c) {
  const Tensor& key = c.input(0);
  if (key.shape().IsScalar()) return key.scalar<int64_t>();
  return InvalidArgument("key must be an int64 scalar: ", key.shape().ToString());
}

StagingMap::Indices IndicesOf(const KernelContext& c, int input) {
  const auto indices = c.input(input).flat<int32_t>();
  return {indices.begin(), indices.end()};
}

void MapStage(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> key = KeyToStage(c);
  if (!key.ok()) return done(key.status());
  map.Put(CallerOf(c), *key, IndicesOf(c, 1), InputsFrom(c, 2), std::move(done));
}

StagingMap::Taken EntryToOutputs(KernelContext& c, AsyncKernel::Done done) {
  return [&c, done = std::move(done)](absl::StatusOr<StagingMap::Entry> entry) {
    if (!entry.ok()) return done(entry.status());
    SetOutputs(c, 0, std::move(entry->values));
    done(absl::OkStatus());
  };
}

void MapUnstage(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> key = KeyOf(c);
  if (!key.ok()) return done(key.status());
  map.Take(CallerOf(c), *key, IndicesOf(c, 1), OutputTypesFrom(c, 0),
           EntryToOutputs(c, std::move(done)));
}

void MapPeek(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> key = KeyOf(c);
  if (!key.ok()) return done(key.status());
  map.Peek(CallerOf(c), *key, IndicesOf(c, 1), OutputTypesFrom(c, 0),
           EntryToOutputs(c, std::move(done)));
}

void MapUnstageNoKey(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  map.TakeFirst(CallerOf(c), IndicesOf(c, 0), OutputTypesFrom(c, 1),
                [&c, done = std::move(done)](absl::StatusOr<StagingMap::Entry> entry) {
                  if (!entry.ok()) return done(entry.status());
                  c.set_output(0, Tensor::Scalar<int64_t>(entry->key));
                  SetOutputs(c, 1, std::move(entry->values));
                  done(absl::OkStatus());
                });
}

void MapSize(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  done(SetScalarOutput(c, static_cast<int32_t>(map.size())));
}

void MapIncompleteSize(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  done(SetScalarOutput(c, static_cast<int32_t>(map.incomplete_size())));
}

void MapClear(KernelContext& c, StagingMap& map, AsyncKernel::Done done) {
  map.Clear();
  done(absl::OkStatus());
}

KERNEL(MapClear, MapKernel<MapClear>);
KERNEL(MapIncompleteSize, MapKernel<MapIncompleteSize>);
KERNEL(MapPeek, MapKernel<MapPeek>);
KERNEL(MapSize, MapKernel<MapSize>);
KERNEL(MapStage, MapKernel<MapStage>);
KERNEL(MapUnstage, MapKernel<MapUnstage>);
KERNEL(MapUnstageNoKey, MapKernel<MapUnstageNoKey>);
KERNEL(OrderedMapClear, OrderedMapKernel<MapClear>);
KERNEL(OrderedMapIncompleteSize, OrderedMapKernel<MapIncompleteSize>);
KERNEL(OrderedMapPeek, OrderedMapKernel<MapPeek>);
KERNEL(OrderedMapSize, OrderedMapKernel<MapSize>);
KERNEL(OrderedMapStage, OrderedMapKernel<MapStage>);
KERNEL(OrderedMapUnstage, OrderedMapKernel<MapUnstage>);
KERNEL(OrderedMapUnstageNoKey, OrderedMapKernel<MapUnstageNoKey>);

}  // namespace
}  // namespace sluice
