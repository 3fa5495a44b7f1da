// Records of many files, mixed, without queues in the graph.
#include "ops/op.h"

namespace sluice {
namespace {

OP(RecordInput,
   "Batches of records of all files that match `file_pattern`, for ever: in each epoch every "
   "record "
   "once, in random order. `file_parallelism` files are read at a time, starting with the "
   "`file_shuffle_shift_ratio`-th part of the shuffled files, into a buffer of `file_buffer_size` "
   "records, out of which they are drawn.")
    .Output("records", DT_STRING)
    .Attr("file_pattern", StringAttr())
    .Attr("file_random_seed", IntAttr(301))
    .Attr("file_shuffle_shift_ratio", FloatAttr(0))
    .Attr("file_buffer_size", IntAttr(10000))
    .Attr("file_parallelism", IntAttr(16))
    .Attr("batch_size", IntAttr(32))
    .Attr("compression_type", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, PartialShape::Vector(c.attr<int64_t>("batch_size")));
    });

}  // namespace
}  // namespace sluice
