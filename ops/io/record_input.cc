// An op that returns records of many files in random order, without queues in the graph.
#include "ops/op.h"

namespace sluice {
namespace {

OP(RecordInput,
   "Returns batches of records of the files that match `file_pattern`, without end. Each epoch has "
   "every record once, in random order: records are drawn from a buffer of `file_buffer_size`, "
   "which is filled from `file_parallelism` files at a time. The shuffled list of files is rotated "
   "by `file_shuffle_shift_ratio` of its length.")
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
