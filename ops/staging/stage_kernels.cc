// Ops on staging areas and staging maps.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/staging/staging_area.h"
#include "ops/staging/staging_map.h"

namespace sluice {
namespace {

// The area or map of an op: found by name, or made. Looked for in each step, because a container
// may have been cleared since.
template <typename R>
class Place {
 public:
  static absl::StatusOr<Place> Of(const KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ResourceName name, ResourceNameOf(init, true));
    return Place(init, std::move(name));
  }
  absl::StatusOr<std::shared_ptr<R>> Find(const KernelContext& c) const {
    return c.resources().LookupOrCreate<R>(
        name_.container, name_.name, [this]() -> absl::StatusOr<std::shared_ptr<R>> {
          if constexpr (std::is_constructible_v<R, std::string, StagingLimits>) {
            return std::make_shared<R>(name_.name, limits_);
          } else {
            return std::make_shared<R>(name_.name, limits_, parts_);
          }
        });
  }

 private:
  Place(const KernelInit& init, ResourceName name)
      : name_(std::move(name)),
        limits_{.tuples = init.AttrOr<int64_t>("capacity", 0),
                .bytes = init.AttrOr<int64_t>("memory_limit", 0)},
        parts_(init.AttrOr<std::vector<DataType>>("dtypes", {}).size()) {}
  const ResourceName name_;
  const StagingLimits limits_;
  const size_t parts_;
};

Tensors InputsFrom(const KernelContext& c, int first) {
  Tensors values;
  for (int i = first; i < c.num_inputs(); ++i) values.push_back(c.input(i));
  return values;
}

std::vector<DataType> TypesFrom(const KernelContext& c, int first) {
  std::vector<DataType> types;
  for (int i = first; i < c.num_outputs(); ++i) types.push_back(c.output_dtype(i));
  return types;
}

void SetOutputs(KernelContext& c, int first, Tensors values) {
  for (size_t i = 0; i < values.size(); ++i) {
    c.set_output(first + static_cast<int>(i), std::move(values[i]));
  }
}

absl::Status SetSize(KernelContext& c, int64_t size) {
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, TensorShape(), &out));
  out->scalar<int32_t>() = static_cast<int32_t>(size);
  return absl::OkStatus();
}

// A kernel over a place; `kUse(context, place, done)` does the work.
template <typename R, void (*kUse)(KernelContext&, R&, AsyncKernel::Done)>
class PlaceKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(Place<R> place, Place<R>::Of(init));
    return std::unique_ptr<Kernel>(new PlaceKernel(std::move(place)));
  }
  void ComputeAsync(KernelContext& c, Done done) override {
    absl::StatusOr<std::shared_ptr<R>> found = place_.Find(c);
    if (!found.ok()) return done(found.status());
    kUse(c, **found, std::move(done));
  }
  bool IsExpensive() const override { return false; }

 private:
  explicit PlaceKernel(Place<R> place) : place_(std::move(place)) {}
  const Place<R> place_;
};

// A use of an area or of a map, whichever it takes.
template <typename R>
using Use = void (*)(KernelContext&, R&, AsyncKernel::Done);
template <Use<StagingArea> kUse>
using AreaKernel = PlaceKernel<StagingArea, kUse>;
template <Use<StagingMap> kUse>
using MapKernel = PlaceKernel<StagingMap, kUse>;
template <Use<OrderedStagingMap> kUse>
using OrderedMapKernel = PlaceKernel<OrderedStagingMap, kUse>;

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
  area.Take(CallerOf(c), TypesFrom(c, 0), ToOutputs(c, std::move(done)));
}

void StagePeek(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  const Tensor& index = c.input(0);
  if (!index.shape().IsScalar()) return done(InvalidArgument("index must be scalar"));
  if (index.scalar<int32_t>() < 0) {
    return done(InvalidArgument("index must be >= 0, got ", index.scalar<int32_t>()));
  }
  area.Peek(CallerOf(c), index.scalar<int32_t>(), TypesFrom(c, 0), ToOutputs(c, std::move(done)));
}

void StageSize(KernelContext& c, StagingArea& area, AsyncKernel::Done done) {
  done(SetSize(c, area.size()));
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

// MapStage takes any one element for a key.
absl::StatusOr<int64_t> KeyToStage(const KernelContext& c) {
  const Tensor& key = c.input(0);
  if (key.num_elements() == 0) return InvalidArgument("key must not be empty");
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

template <typename M>
void MapStage(KernelContext& c, M& map, AsyncKernel::Done done) {
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

template <typename M>
void MapUnstage(KernelContext& c, M& map, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> key = KeyOf(c);
  if (!key.ok()) return done(key.status());
  map.Take(CallerOf(c), *key, IndicesOf(c, 1), TypesFrom(c, 0), EntryToOutputs(c, std::move(done)));
}

template <typename M>
void MapPeek(KernelContext& c, M& map, AsyncKernel::Done done) {
  const absl::StatusOr<int64_t> key = KeyOf(c);
  if (!key.ok()) return done(key.status());
  map.Peek(CallerOf(c), *key, IndicesOf(c, 1), TypesFrom(c, 0), EntryToOutputs(c, std::move(done)));
}

template <typename M>
void MapUnstageNoKey(KernelContext& c, M& map, AsyncKernel::Done done) {
  map.TakeFirst(CallerOf(c), IndicesOf(c, 0), TypesFrom(c, 1),
                [&c, done = std::move(done)](absl::StatusOr<StagingMap::Entry> entry) {
                  if (!entry.ok()) return done(entry.status());
                  c.set_output(0, Tensor::Scalar<int64_t>(entry->key));
                  SetOutputs(c, 1, std::move(entry->values));
                  done(absl::OkStatus());
                });
}

template <typename M>
void MapSize(KernelContext& c, M& map, AsyncKernel::Done done) {
  done(SetSize(c, map.size()));
}

template <typename M>
void MapIncompleteSize(KernelContext& c, M& map, AsyncKernel::Done done) {
  done(SetSize(c, map.incomplete_size()));
}

template <typename M>
void MapClear(KernelContext& c, M& map, AsyncKernel::Done done) {
  map.Clear();
  done(absl::OkStatus());
}

KERNEL(MapClear, MapKernel<MapClear<StagingMap>>);
KERNEL(MapIncompleteSize, MapKernel<MapIncompleteSize<StagingMap>>);
KERNEL(MapPeek, MapKernel<MapPeek<StagingMap>>);
KERNEL(MapSize, MapKernel<MapSize<StagingMap>>);
KERNEL(MapStage, MapKernel<MapStage<StagingMap>>);
KERNEL(MapUnstage, MapKernel<MapUnstage<StagingMap>>);
KERNEL(MapUnstageNoKey, MapKernel<MapUnstageNoKey<StagingMap>>);
KERNEL(OrderedMapClear, OrderedMapKernel<MapClear<OrderedStagingMap>>);
KERNEL(OrderedMapIncompleteSize, OrderedMapKernel<MapIncompleteSize<OrderedStagingMap>>);
KERNEL(OrderedMapPeek, OrderedMapKernel<MapPeek<OrderedStagingMap>>);
KERNEL(OrderedMapSize, OrderedMapKernel<MapSize<OrderedStagingMap>>);
KERNEL(OrderedMapStage, OrderedMapKernel<MapStage<OrderedStagingMap>>);
KERNEL(OrderedMapUnstage, OrderedMapKernel<MapUnstage<OrderedStagingMap>>);
KERNEL(OrderedMapUnstageNoKey, OrderedMapKernel<MapUnstageNoKey<OrderedStagingMap>>);

}  // namespace
}  // namespace sluice
