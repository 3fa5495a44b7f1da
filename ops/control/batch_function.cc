// BatchFunction, which runs a function once for several steps.
#include "ops/op.h"

namespace sluice {
namespace {

OP(BatchFunction,
   "Calls f with in_tensors and captured_tensors. Concurrent calls of one node are joined along "
   "dimension 0 of in_tensors. f runs once for all of them, with the captured_tensors of one call, "
   "and each call returns its own rows. TensorFlow also joins calls of different nodes with the "
   "same shared_name.")
    .Input("in_tensors", "Tin")
    .Input("captured_tensors", "Tcaptured")
    .Output("out_tensors", "Tout")
    .Attr("f", FunctionAttrDef())
    .Attr("num_batch_threads", IntAttr())
    .Attr("max_batch_size", IntAttr())
    .Attr("batch_timeout_micros", IntAttr())
    .Attr("max_enqueued_batches", IntAttr(10))
    .Attr("allowed_batch_sizes", IntListAttr({}))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("batching_queue", StringAttr(""))
    .Attr("low_priority_max_batch_size", IntAttr(0))
    .Attr("low_priority_batch_timeout_micros", IntAttr(0))
    .Attr("low_priority_allowed_batch_sizes", IntListAttr({}))
    .Attr("low_priority_max_enqueued_batches", IntAttr(0))
    .Attr("mixed_priority_policy", OneOf({"low_priority_padding_with_max_batch_size",
                                          "low_priority_padding_with_next_allowed_batch_size",
                                          "priority_isolation", "priority_merge"},
                                         "low_priority_padding_with_max_batch_size"))
    .Attr("batch_padding_policy",
          OneOf({"PAD_UP", "BATCH_DOWN", "MINIMIZE_TPU_COST_PER_REQUEST"}, "PAD_UP"))
    .Attr("Tin", TypeListAttr().Min(1))
    .Attr("Tcaptured", TypeListAttr().Min(0))
    .Attr("Tout", TypeListAttr().Min(1))
    .Attr("enable_large_batch_splitting", BoolAttr(false))
    .DistributedCommunication()
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
