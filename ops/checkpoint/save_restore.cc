// Tensors into checkpoints and back. The V2 ops write and read tensor bundles (bundle.h); the
// others TensorFlow's first format (v1.h).

#include "ops/checkpoint/slice.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status NamesOfTensors(ShapeContext& c, int first, int last) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  int64_t length = c.num_inputs() - last;
  if (length <= 0) length = PartialShape::kUnknown;
  for (int i = first; i < last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape names, c.WithRank(i, 1));
    SLUICE_ASSIGN_OR_RETURN(length, MergeDim(names.dim(0), length));
  }
  return absl::OkStatus();
}

// The shape that "4 2 0,2:-" asks for; unknown for "".
absl::StatusOr<PartialShape> RestoredShape(const std::string& shape_and_slice) {
  SLUICE_ASSIGN_OR_RETURN(const ShapeAndSlice spec, ParseShapeAndSlice(shape_and_slice));
  if (spec.is_whole) return PartialShape::UnknownRank();
  return PartialShape(spec.slice_shape);
}

absl::Status RestoreV2Shape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  for (int i : {1, 2}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  const std::optional<Tensor> specs = c.InputValue(2);
  if (!specs) return c.SetOutputs(PartialShape::UnknownRank());
  if (specs->num_elements() != c.num_outputs()) {
    return InvalidArgument("expected ", c.num_outputs(), " shapes and slices, got ",
                           specs->num_elements());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, RestoredShape(specs->data<std::string>()[i]));
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, std::move(shape)));
  }
  return absl::OkStatus();
}

OP(DisableCopyOnRead,
   "Tells a variable that it is about to be saved. Here a read never copies, so nothing changes.")
    .Input("resource", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(MergeV2Checkpoints,
   "Makes the checkpoint `destination_prefix` of the checkpoints `checkpoint_prefixes`, whose data"
   " files are renamed; `delete_old_dirs` removes what is left of them.")
    .Input("checkpoint_prefixes", DT_STRING)
    .Input("destination_prefix", DT_STRING)
    .Attr("delete_old_dirs", BoolAttr(true))
    .Attr("allow_missing_files", BoolAttr(false))
    .Stateful()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
      return c.WithRank(1, 0).status();
    });

OP(Restore, "A tensor out of checkpoint files of the first format.")
    .Input("file_pattern", DT_STRING)
    .Input("tensor_name", DT_STRING)
    .Output("tensor", "dt")
    .Attr("dt", TypeAttr())
    .Attr("preferred_shard", IntAttr(-1))
    .Stateful()
    .Shape([](ShapeContext& c) {
      for (int i : {0, 1}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return c.SetOutput(0, PartialShape::UnknownRank());
    });

OP(RestoreSlice,
   "A box of a tensor (`shape_and_slice`: \"4 2 0,2:-\") out of checkpoint files of the first"
   " format.")
    .Input("file_pattern", DT_STRING)
    .Input("tensor_name", DT_STRING)
    .Input("shape_and_slice", DT_STRING)
    .Output("tensor", "dt")
    .Attr("dt", TypeAttr())
    .Attr("preferred_shard", IntAttr(-1))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {0, 1, 2}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      const std::optional<Tensor> spec = c.InputValue(2);
      if (!spec) return c.SetOutput(0, PartialShape::UnknownRank());
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, RestoredShape(spec->scalar<std::string>()));
      return c.SetOutput(0, std::move(shape));
    });

OP(RestoreV2,
   "Tensors by name out of the checkpoint `prefix`: whole (\"\") or a box each (\"4 2 0,2:-\").")
    .Input("prefix", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shape_and_slices", DT_STRING)
    .Output("tensors", "dtypes")
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .Shape(RestoreV2Shape);

OP(Save, "Writes tensors into one file of the first checkpoint format.")
    .Input("filename", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("data", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 2); });

OP(SaveSlices,
   "Writes tensors, each a box of a larger one (\"4 2 0,2:-\") or whole (\"\"), into one file of "
   "the"
   " first checkpoint format.")
    .Input("filename", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shapes_and_slices", DT_STRING)
    .Input("data", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 3); });

OP(SaveV2,
   "Writes tensors, each a box of a larger one (\"4 2 0,2:-\") or whole (\"\"), as the checkpoint"
   " `prefix`.")
    .Input("prefix", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shape_and_slices", DT_STRING)
    .Input("tensors", "dtypes")
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 3); });

}  // namespace
}  // namespace sluice
