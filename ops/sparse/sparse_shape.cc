// Ops that convert sparse tensors to dense ones, and that reorder, reshape, concatenate, slice and
// split sparse tensors.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/sparse/sparse_shape_builders.h"
#endif

namespace sluice {
namespace {

OP(SparseConcat, "Concatenates sparse tensors along dimension concat_dim.")
    .Input("indices", "N*int64")
    .Input("values", "N*T")
    .Input("shapes", "N*int64")
    .With(SparseOutput{"output_"})
    .Attr("concat_dim", IntAttr())
    .Attr("N", IntAttr().Min(2))
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      const int n = c.num_inputs() / 3;
      int64_t entries = 0, rank = -1;
      for (int i = 0; i < n; ++i) {
        SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(i, 2));
        SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(n + i, 1));
        SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(2 * n + i, 1));
        SLUICE_ASSIGN_OR_RETURN(const int64_t own, MergeDim(indices.dim(0), values.dim(0)));
        SLUICE_ASSIGN_OR_RETURN(rank, MergeDim(rank, shape.dim(0)));
        SLUICE_ASSIGN_OR_RETURN(rank, MergeDim(rank, indices.dim(1)));
        entries = own < 0 || entries < 0 ? -1 : SaturatedSum(entries, own);
      }
      return SetSparse(c, 0, rank, entries);
    });

OP(SparseFillEmptyRows,
   "Adds an entry default_value at the first position of each row without entries. Returns also "
   "which rows were empty, and the new number of each entry.")
    .Input("indices", DT_INT64)
    .Input("values", "T")
    .Input("dense_shape", DT_INT64)
    .Input("default_value", "T")
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Output("empty_row_indicator", DT_BOOL)
    .Output("reverse_index_map", DT_INT64)
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const int64_t rank, SparseRank(c, 0));
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape dense, c.InputAsShape(2));
      c.SetOutput(0, {-1, rank}).IgnoreError();
      c.SetOutput(1, {-1}).IgnoreError();
      c.SetOutput(2, {dense.rank_known() && dense.rank() > 0 ? dense.dim(0) : -1}).IgnoreError();
      const int64_t entries = std::max(c.input(0).dim(0), c.input(1).dim(0));
      return c.SetOutput(3, {entries});
    }) GRADIENT([](Backprop& b) {
      auto grads = SparseFillEmptyRowsGrad(b.Value("reverse_index_map"), b.Of("output_values"));
      b.Into("values", grads.d_values);
      b.Into("default_value", grads.d_default_value);
    });

OP(SparseFillEmptyRowsGrad,
   "Computes the gradient of SparseFillEmptyRows with respect to the values and the default value.")
    .Input("reverse_index_map", DT_INT64)
    .Input("grad_values", "T")
    .Output("d_values", "T")
    .Output("d_default_value", "T")
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape map, c.WithRank(0, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      c.SetOutput(0, map).IgnoreError();
      return c.SetOutput(1, PartialShape::Scalar());
    });

OP(SparseReorder, "Sorts the entries of a sparse tensor in row-major order.")
    .With(SparseInput{"input_"})
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(1, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
      c.SetOutput(0, indices).IgnoreError();
      return c.SetOutput(1, values);
    }) GRADIENT([](Backprop& b) {
      Output indices = b.Value("input_indices");
      Output count = Reshape(PartOf(ShapeNode(indices), 0, 1), std::vector<int64_t>{});
      Output numbers = Range(IndexScalar(b.graph(), 0), count, IndexScalar(b.graph(), 1));
      Output order = SparseReorder(indices, numbers, b.Value("input_shape")).output_values;
      b.Into("input_values",
             GatherV2(b.Of("output_values"), InvertPermutation(order), IndexScalar(b.graph(), 0)));
    });

OP(SparseReshape, "Changes the shape of a sparse tensor. A size of -1 in new_shape is computed.")
    .Input("input_indices", DT_INT64)
    .Input("input_shape", DT_INT64)
    .Input("new_shape", DT_INT64)
    .Output("output_indices", DT_INT64)
    .Output("output_shape", DT_INT64)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(2, 1));
      c.SetOutput(0, {indices.dim(0), shape.dim(0)}).IgnoreError();
      return c.SetOutput(1, shape);
    });

OP(SparseSlice, "Slices a sparse tensor at `start` with the given `size`.")
    .With(SparseInput{""})
    .Input("start", DT_INT64)
    .Input("size", DT_INT64)
    .With(SparseOutput{"output_"})
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(2, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      return SetSparse(c, 0, shape.dim(0));
    }) GRADIENT([](Backprop& b) {
      b.Into("values", SparseSliceGrad(b.Of("output_values"), b.Value("indices"), b.Value("start"),
                                       b.Value("output_indices")));
    });

OP(SparseSliceGrad, "Computes the gradient of SparseSlice with respect to the values.")
    .Input("backprop_val_grad", "T")
    .Input("input_indices", DT_INT64)
    .Input("input_start", DT_INT64)
    .Input("output_indices", DT_INT64)
    .Output("val_grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(1, 2));
      return c.SetOutput(0, {indices.dim(0)});
    });

OP(SparseSplit,
   "Splits a sparse tensor into num_split parts along dimension split_dim. If the size is not "
   "divisible, the first parts are larger by one.")
    .Input("split_dim", DT_INT64)
    .With(SparseInput{""})
    .Output("output_indices", "num_split*int64")
    .Output("output_values", "num_split*T")
    .Output("output_shape", "num_split*int64")
    .Attr("num_split", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(3, 1));
      const int n = c.num_outputs() / 3;
      for (int i = 0; i < n; ++i) {
        c.SetOutput(i, {-1, shape.dim(0)}).IgnoreError();
        c.SetOutput(n + i, {-1}).IgnoreError();
        c.SetOutput(2 * n + i, shape).IgnoreError();
      }
      return absl::OkStatus();
    });

OP(SparseToDense, "Sets the entries of a tensor that is filled with default_value.")
    .Input("sparse_indices", "Tindices")
    .Input("output_shape", "Tindices")
    .Input("sparse_values", "T")
    .Input("default_value", "T")
    .Output("dense", "T")
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Shape(ShapeFromInput(1)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("dense"), indices = b.Value("sparse_indices");
      Output values = GatherNd(grad, indices);
      b.Into("sparse_indices", ZerosLike(indices));
      b.Into("output_shape", ZerosLike(b.Value("output_shape")));
      b.Into("sparse_values", values);
      b.Into("default_value", ReduceSum(grad) - ReduceSum(values));
    });

}  // namespace
}  // namespace sluice
