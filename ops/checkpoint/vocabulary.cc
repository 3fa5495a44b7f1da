// Ops for warm starts of models whose vocabularies have changed.
#include "ops/op.h"

namespace sluice {
namespace {

OP(GenerateVocabRemapping,
   "Maps `num_new_vocab` lines of a vocabulary, from `new_vocab_offset` on, to the equal lines of "
   "the old vocabulary (-1: none). Also returns the number of equal lines.")
    .Input("new_vocab_file", DT_STRING)
    .Input("old_vocab_file", DT_STRING)
    .Output("remapping", DT_INT64)
    .Output("num_present", DT_INT32)
    .Attr("new_vocab_offset", IntAttr().Min(0))
    .Attr("num_new_vocab", IntAttr().Min(0))
    .Attr("old_vocab_size", IntAttr(-1).Min(-1))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      c.SetOutput(0, {c.attr<int64_t>("num_new_vocab")}).IgnoreError();
      return c.SetOutput(1, PartialShape::Scalar());
    });

OP(LoadAndRemapMatrix,
   "Loads a matrix from a checkpoint and reorders its rows and columns. Cells that it lacks are "
   "taken from `initializing_values` in order.")
    .Input("ckpt_path", DT_STRING)
    .Input("old_tensor_name", DT_STRING)
    .Input("row_remapping", DT_INT64)
    .Input("col_remapping", DT_INT64)
    .Input("initializing_values", DT_FLOAT)
    .Output("output_matrix", DT_FLOAT)
    .Attr("num_rows", IntAttr().Min(0))
    .Attr("num_cols", IntAttr().Min(1))
    .Attr("max_rows_in_memory", IntAttr(-1))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i = 0; i < 2; ++i) SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(i, 1).status());
      for (int i = 2; i < 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
      return c.SetOutput(0, {c.attr<int64_t>("num_rows"), c.attr<int64_t>("num_cols")});
    });

}  // namespace
}  // namespace sluice
