// Ops that save tensors to checkpoints and restore them. The V2 ops use tensor bundles (bundle.h),
// and the other ops use TensorFlow's first format (v1.h). A tensor may be a slice of a larger one.
// "4 2 0,2:-" stands for a slice of a [4, 2] matrix (slice.h), and "" for a whole tensor.
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

// Returns the shape of a slice such as "4 2 0,2:-", or an unknown shape for "".
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
  SLUICE_INVALID_IF(specs->num_elements() != c.num_outputs(), "expected ", c.num_outputs(),
                    " shapes and slices, got ", specs->num_elements());
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, RestoredShape(specs->data<std::string>()[i]));
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, std::move(shape)));
  }
  return absl::OkStatus();
}

void RestoresOne(OpDefBuilder& op) {
  op.Input("file_pattern", DT_STRING)
      .Input("tensor_name", DT_STRING)
      .Output("tensor", "dt")
      .Attr("dt", TypeAttr())
      .Attr("preferred_shard", IntAttr(-1))
      .Stateful();
}

OP(DisableCopyOnRead, "Does nothing, because reads of variables never copy.")
    .Input("resource", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(MergeV2Checkpoints,
   "Merges checkpoints into one. Renames their data files. `delete_old_dirs` removes what remains "
   "of the old checkpoints.")
    .Input("checkpoint_prefixes", DT_STRING)
    .Input("destination_prefix", DT_STRING)
    .Attr("delete_old_dirs", BoolAttr(true))
    .Attr("allow_missing_files", BoolAttr(false))
    .Stateful()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
      return c.WithRank(1, 0).status();
    });

OP(Restore, "Restores a tensor from checkpoint files of the first format.")
    .With(RestoresOne)
    .Shape([](ShapeContext& c) {
      for (int i : {0, 1}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return c.SetOutput(0, PartialShape::UnknownRank());
    });

OP(RestoreSlice,
   "Restores the slice `shape_and_slice` of a tensor from checkpoint files of the first format.")
    .With(RestoresOne)
    .Input("shape_and_slice", DT_STRING)
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {0, 1, 2}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      const std::optional<Tensor> spec = c.InputValue(2);
      if (!spec) return c.SetOutput(0, PartialShape::UnknownRank());
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, RestoredShape(spec->scalar<std::string>()));
      return c.SetOutput(0, std::move(shape));
    });

OP(RestoreV2,
   "Restores tensors, or the given slices of them, by name from the checkpoint `prefix`.")
    .Input("prefix", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shape_and_slices", DT_STRING)
    .Output("tensors", "dtypes")
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .Shape(RestoreV2Shape);

OP(Save, "Saves tensors to a file of the first checkpoint format.")
    .Input("filename", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("data", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 2); });

OP(SaveSlices, "Saves tensors, or slices of tensors, to a file of the first checkpoint format.")
    .Input("filename", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shapes_and_slices", DT_STRING)
    .Input("data", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 3); });

OP(SaveV2, "Saves tensors, or slices of tensors, as the checkpoint `prefix`.")
    .Input("prefix", DT_STRING)
    .Input("tensor_names", DT_STRING)
    .Input("shape_and_slices", DT_STRING)
    .Input("tensors", "dtypes")
    .Attr("dtypes", TypeListAttr().Min(1))
    .Stateful()
    .Shape([](ShapeContext& c) { return NamesOfTensors(c, 1, 3); });

}  // namespace
}  // namespace sluice
