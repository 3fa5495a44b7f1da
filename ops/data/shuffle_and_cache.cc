// Datasets that shuffle or cache elements, and the seed generators and caches that their readings
// can share. Such a resource lives as long as its handle, its deleter or a dataset that uses it.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

void MakesHandle(OpDefBuilder& op) {
  op.Output("handle", DT_RESOURCE).Stateful().Shape(ScalarOutput());
}

void MakesHandleAndDeleter(OpDefBuilder& op) { op.With(MakesHandle).Output("deleter", DT_VARIANT); }

void ReshuffleAttr(OpDefBuilder& op) { op.Attr("reshuffle_each_iteration", BoolAttr(true)); }

OP(AnonymousMemoryCache, "Makes an empty cache for the elements of a dataset.")
    .With(MakesHandleAndDeleter);

OP(AnonymousSeedGenerator,
   "Makes a generator of a pair of seeds per epoch. Without `reshuffle`, all epochs have the same "
   "seeds.")
    .With(Inputs({"seed", "seed2"}, DT_INT64))
    .Input("reshuffle", DT_BOOL)
    .With(MakesHandleAndDeleter);

OP(CacheDataset,
   "Keeps the elements in memory, or in the file `filename` if it is not empty, after a complete "
   "reading.")
    .With(TransformsDataset)
    .Input("filename", DT_STRING)
    .With(ElementsAndMetadata);

OP(CacheDatasetV2,
   "Keeps the elements in `cache`, or in the file `filename` if it is not empty, after a complete "
   "reading.")
    .With(TransformsDataset)
    .Input("filename", DT_STRING)
    .Input("cache", DT_RESOURCE)
    .With(ElementsAndMetadata)
    .Stateful();

OP(DeleteMemoryCache, "Ends the share of a handle in a cache. Datasets keep the caches they use.")
    .Input("handle", DT_RESOURCE)
    .Input("deleter", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(DummyIterationCounter, "Returns a handle without a resource.").With(MakesHandle);

OP(DummyMemoryCache, "Returns a handle without a cache. CacheDatasetV2 makes its own instead.")
    .With(MakesHandle);

OP(DummySeedGenerator,
   "Returns a handle without a generator. Shuffled datasets make their own instead.")
    .With(MakesHandle);

OP(RandomDatasetV2,
   "Generates random numbers below 2^32 without end. Readings have the same ones, unless "
   "`rerandomize_each_iteration` or the seed generator requests new seeds for each.")
    .With(Inputs({"seed", "seed2"}, DT_INT64))
    .Input("seed_generator", DT_RESOURCE)
    .With(MakesDataset)
    .Attr("rerandomize_each_iteration", BoolAttr(false))
    .With(ElementsAndMetadata)
    .Stateful();

OP(ShuffleAndRepeatDataset,
   "Repeats the elements `count` times (-1: without end), each time in another random order. Reads "
   "the next epoch while the elements of the last one leave the buffer.")
    .With(TransformsDataset)
    .With(Inputs({"buffer_size", "seed", "seed2", "count"}, DT_INT64))
    .With(ElementAttrs)
    .With(ReshuffleAttr)
    .With(Metadata);

OP(ShuffleAndRepeatDatasetV2, "Shuffles as ShuffleAndRepeatDataset does, with a seed generator.")
    .With(TransformsDataset)
    .With(Inputs({"buffer_size", "seed", "seed2", "count"}, DT_INT64))
    .Input("seed_generator", DT_RESOURCE)
    .With(ReshuffleAttr)
    .With(ElementsAndMetadata)
    .Stateful();

OP(ShuffleDataset, "Draws elements at random from a buffer of `buffer_size` elements.")
    .With(TransformsDataset)
    .With(Inputs({"buffer_size", "seed", "seed2"}, DT_INT64))
    .With(ReshuffleAttr)
    .With(ElementsAndMetadata);

OP(ShuffleDatasetV2, "Shuffles as ShuffleDataset does, with a seed generator.")
    .With(TransformsDataset)
    .Input("buffer_size", DT_INT64)
    .Input("seed_generator", DT_RESOURCE)
    .With(ElementsAndMetadata)
    .Stateful();

OP(ShuffleDatasetV3, "Shuffles as ShuffleDataset does, with a seed generator if there is one.")
    .With(TransformsDataset)
    .With(Inputs({"buffer_size", "seed", "seed2"}, DT_INT64))
    .Input("seed_generator", DT_RESOURCE)
    .With(ReshuffleAttr)
    .With(ElementsAndMetadata)
    .Stateful();

}  // namespace
}  // namespace sluice
