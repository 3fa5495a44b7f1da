// What datasets share behind handles (seeds, caches), the datasets that take them, and iterators
// without a name. Each of these lives as long as its handle, or what uses it.
#include "ops/op.h"

namespace sluice {
namespace {

OP(AnonymousIterator, "A place in a dataset, which MakeIterator chooses; a new one each time.")
    .Output("handle", DT_RESOURCE)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousIteratorV2, "AnonymousIterator, and what DeleteIterator takes.")
    .Output("handle", DT_RESOURCE)
    .Output("deleter", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousIteratorV3, "AnonymousIterator.")
    .Output("handle", DT_RESOURCE)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousMemoryCache,
   "Room for the elements of a dataset; it lives as long as the handle or the deleter.")
    .Output("handle", DT_RESOURCE)
    .Output("deleter", DT_VARIANT)
    .Stateful()
    .Shape(ScalarOutput());

OP(AnonymousSeedGenerator,
   "Seeds for one epoch after the other, or (`reshuffle` false) the same for all; they live as "
   "long "
   "as the handle or the deleter.")
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Input("reshuffle", DT_BOOL)
    .Output("handle", DT_RESOURCE)
    .Output("deleter", DT_VARIANT)
    .Stateful()
    .Shape(ScalarOutput());

OP(CacheDatasetV2,
   "The elements, kept in `cache` once they have all been read (`filename` must be empty).")
    .Input("input_dataset", DT_VARIANT)
    .Input("filename", DT_STRING)
    .Input("cache", DT_RESOURCE)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(DeleteIterator, "Forgets the name of an iterator.")
    .Input("handle", DT_RESOURCE)
    .Input("deleter", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(DummyMemoryCache, "A handle of no cache: CacheDatasetV2 makes one of its own.")
    .Output("handle", DT_RESOURCE)
    .Stateful()
    .Shape(ScalarOutput());

OP(DummySeedGenerator, "A handle of no generator: shuffled datasets make one of their own.")
    .Output("handle", DT_RESOURCE)
    .Stateful()
    .Shape(ScalarOutput());

OP(ShuffleAndRepeatDataset,
   "The elements `count` times, or for ever (-1), each time in another random order; the next "
   "epoch is read while the last one's elements leave the buffer.")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Input("count", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("reshuffle_each_iteration", BoolAttr(true))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ShuffleAndRepeatDatasetV2, "ShuffleAndRepeatDataset with the seeds of a generator.")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Input("count", DT_INT64)
    .Input("seed_generator", DT_RESOURCE)
    .Output("handle", DT_VARIANT)
    .Attr("reshuffle_each_iteration", BoolAttr(true))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(ShuffleDatasetV2, "ShuffleDataset with the seeds of a generator.")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Input("seed_generator", DT_RESOURCE)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(ShuffleDatasetV3, "ShuffleDataset with the seeds of a generator, if there is one.")
    .Input("input_dataset", DT_VARIANT)
    .Input("buffer_size", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("seed2", DT_INT64)
    .Input("seed_generator", DT_RESOURCE)
    .Output("handle", DT_VARIANT)
    .Attr("reshuffle_each_iteration", BoolAttr(true))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
