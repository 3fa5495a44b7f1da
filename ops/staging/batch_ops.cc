// Ops that join the tensors of concurrent steps to batches, and divide the results again.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

// Declares the names of the resource, which several nodes may share.
void NamesBatch(OpDefBuilder& op) {
  op.Attr("container", StringAttr("")).Attr("shared_name", StringAttr(""));
}

// Returns `shape` with an unknown number of rows.
PartialShape RowsOf(PartialShape shape) {
  if (shape.rank() > 0) shape.set_dim(0, -1);
  return shape;
}

OP(Batch,
   "Joins the tensors of steps along their first dimension. One of the steps gets the batch, the "
   "others get tensors without rows. batch_index has the id, first row and end of each step.")
    .Input("in_tensors", "T")
    .Output("batched_tensors", "T")
    .Output("batch_index", DT_INT64)
    .Output("id", DT_INT64)
    .Attr("num_batch_threads", IntAttr())
    .Attr("max_batch_size", IntAttr())
    .Attr("max_enqueued_batches", IntAttr(10))
    .Attr("batch_timeout_micros", IntAttr())
    .Attr("allowed_batch_sizes", IntListAttr({}))
    .Attr("grad_timeout_micros", IntAttr())
    .With(NamesBatch)
    .Attr("batching_queue", StringAttr(""))
    .Attr("T", TypeListAttr().Min(1))
    .DistributedCommunication()
    .Impure(Impurity::kState)
    .Shape([](ShapeContext& c) -> absl::Status {
      const int tensors = c.num_inputs();
      for (int i = 0; i < tensors; ++i) {
        SLUICE_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(i, 1));
        c.SetOutput(i, RowsOf(in)).IgnoreError();
      }
      c.SetOutput(tensors, PartialShape::Matrix(-1, 3)).IgnoreError();
      return c.SetOutput(tensors + 1, PartialShape::Scalar());
    });

OP(Unbatch, "Returns the rows of a batch's result that belong to the step `id`.")
    .Input("batched_tensor", "T")
    .Input("batch_index", DT_INT64)
    .Input("id", DT_INT64)
    .Output("unbatched_tensor", "T")
    .Attr("timeout_micros", IntAttr())
    .With(NamesBatch)
    .Attr("T", TypeAttr())
    .Impure(Impurity::kState)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, RowsOf(c.input(0))); });

OP(UnbatchGrad,
   "Joins the gradients of the steps of a batch. The step that has the batch gets the result, the "
   "others get a tensor without rows.")
    .Input("original_input", "T")
    .Input("batch_index", DT_INT64)
    .Input("grad", "T")
    .Input("id", DT_INT64)
    .Output("batched_grad", "T")
    .With(NamesBatch)
    .Attr("T", TypeAttr())
    .Impure(Impurity::kState)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, RowsOf(c.input(2))); });

}  // namespace
}  // namespace sluice
