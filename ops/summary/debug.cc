// Ops that TensorFlow's debugger adds: copies of tensors, and summaries of their numbers.
#include <limits>

#include "ops/op.h"

namespace sluice {
namespace {

// These functions declare attributes of ops that watch a tensor. debug_urls names the directories
// to which the output is written.
void WatchesTensor(OpDefBuilder& op) {
  op.Attr("device_name", StringAttr("")).Attr("tensor_name", StringAttr(""));
}
void WritesToUrls(OpDefBuilder& op) {
  op.Attr("debug_urls", StringListAttr({})).Impure(Impurity::kState).AllowsUninitializedInput();
}
void CopiesTensor(OpDefBuilder& op) {
  op.Input("input", "T").Output("output", "T").Attr("T", TypeAttr());
  op.Attr("tensor_name", StringAttr("")).Attr("debug_ops_spec", StringListAttr({}));
  op.AllowsUninitializedInput().Shape(SameAsInput(0));
}

OP(Copy, "Copies a tensor into separate memory.").With(CopiesTensor);

OP(CopyHost, "Copies a tensor into separate memory of the host.").With(CopiesTensor);

OP(DebugIdentity, "Returns the tensor and writes it to debug_urls.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .With(WatchesTensor)
    .With(WritesToUrls)
    .Attr("gated_grpc", BoolAttr(false))
    .Shape(SameAsInput(0));

OP(DebugIdentityV2, "Returns the tensor. Files of the second debugger cannot be written.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("tfdbg_context_id", StringAttr(""))
    .Attr("op_name", StringAttr(""))
    .Attr("output_slot", IntAttr(-1))
    .Attr("tensor_debug_mode", IntAttr(-1))
    .Attr("debug_urls", StringListAttr({}))
    .Attr("circular_buffer_size", IntAttr(1000))
    .Attr("tfdbg_run_id", StringAttr(""))
    .Stateful()
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { b.Into("input", b.Of("output")); });

OP(DebugIdentityV3, "DebugIdentity that also names the node that reads or writes the tensor.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .With(WatchesTensor)
    .Attr("io_of_node", StringAttr(""))
    .Attr("is_input", BoolAttr(false))
    .Attr("io_index", IntAttr(-1))
    .With(WritesToUrls)
    .Attr("gated_grpc", BoolAttr(false))
    .Stateful()
    .Shape(SameAsInput(0));

OP(DebugNanCount, "Counts the NaNs of a tensor.")
    .Input("input", "T")
    .Output("output", DT_INT64)
    .Attr("T", TypeAttr())
    .With(WatchesTensor)
    .With(WritesToUrls)
    .Attr("gated_grpc", BoolAttr(false))
    .Shape(UnknownOutputs());

OP(DebugNumericSummary,
   "Counts the kinds of numbers of a tensor, and computes their minimum, maximum, mean and "
   "variance. Also returns its type and shape.")
    .Input("input", "T")
    .Output("output", DT_DOUBLE)
    .Attr("T", TypeAttr())
    .With(WatchesTensor)
    .With(WritesToUrls)
    .Attr("lower_bound", FloatAttr(-std::numeric_limits<float>::infinity()))
    .Attr("upper_bound", FloatAttr(std::numeric_limits<float>::infinity()))
    .Attr("mute_if_healthy", BoolAttr(false))
    .Attr("gated_grpc", BoolAttr(false))
    .Shape(UnknownOutputs());

OP(DebugNumericSummaryV2,
   "Summarizes a tensor as tensor_debug_mode says. 2: whether there are infinities or NaNs; 3: "
   "their counts; 4: the counts of all kinds of numbers; 5: the shape; 8: -inf, inf and NaN if "
   "there are such, else 0.")
    .Input("input", "T")
    .Output("output", "output_dtype")
    .Attr("output_dtype", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("T", TypeAttr())
    .Attr("tensor_debug_mode", IntAttr(-1))
    .Attr("tensor_id", IntAttr(-1))
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
