// Ops that decode and encode protocol buffers whose types are known at run time.
#include "ops/op.h"

namespace sluice {
namespace {

// Declares the source of the message type: "local://" (types of this program), "bytes://" followed
// by a serialized FileDescriptorSet, or the path of a file with one.
AttrDef DescriptorSource() { return StringAttr("local://"); }

OP(DecodeProtoV2,
   "Decodes fields of serialized messages. sizes[..., i] is the number of values of field i, and "
   "values[i] has them in its last dimension, followed by default values.")
    .Input("bytes", DT_STRING)
    .Output("sizes", DT_INT32)
    .Output("values", "output_types")
    .Attr("message_type", StringAttr())
    .Attr("field_names", StringListAttr())
    .Attr("output_types", TypeListAttr(TypeSet{}).Min(0))
    .Attr("descriptor_source", DescriptorSource())
    .Attr("message_format", StringAttr("binary"))
    .Attr("sanitize", BoolAttr(false))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) {
      const PartialShape& bytes = c.input(0);
      for (int i = 1; i < c.num_outputs(); ++i) {
        c.SetOutput(i, bytes.Concatenate(PartialShape::Vector())).IgnoreError();
      }
      return c.SetOutput(0, bytes.Concatenate(PartialShape::Vector(c.num_outputs() - 1)));
    });

OP(EncodeProto,
   "Serializes messages. sizes[..., i] is the number of values of field i, which are the first "
   "ones "
   "in the last dimension of values[i].")
    .Input("sizes", DT_INT32)
    .Input("values", "Tinput_types")
    .Output("bytes", DT_STRING)
    .Attr("field_names", StringListAttr())
    .Attr("message_type", StringAttr())
    .Attr("descriptor_source", DescriptorSource())
    .Attr("Tinput_types", TypeListAttr(TypeSet{}).Min(1))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape messages;
      for (int i = 0; i < c.num_inputs(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape own, c.WithRankAtLeast(i, 2));
        if (!own.rank_known()) continue;
        SLUICE_ASSIGN_OR_RETURN(
            messages,
            messages.MergeWith(PartialShape(own.dims().subspan(0, own.dims().size() - 1))));
      }
      return c.SetOutput(0, messages);
    });

}  // namespace
}  // namespace sluice
