// Kernels of MatMul, and of its variant that computes only some columns.
#include <algorithm>

#include "executor/cpu/scratch_buffers.h"
#include "executor/kernel/made_of_constant.h"
#include "executor/kernel/matrix_tiles.h"
#include "executor/kernel/packed_operand_reader.h"
#include "executor/kernel/running_sum.h"
#include "ops/matmul/packed_operand.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {
namespace {

template <typename T>
class MatMulKernel : public AddingKernel, public TileMaker, public PackedOperandReader {
 public:
  explicit MatMulKernel(KernelInit& init)
      : is_of_its_type_(init.attr<DataType>("T") == kDataTypeOf<T>),
        transpose_a_(init.attr<bool>("transpose_a")),
        transpose_b_(init.attr<bool>("transpose_b")),
        packed_(init, 1) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOf(a, b));
    Products p = ProductOf(a, b);
    if constexpr (std::is_same_v<T, float>) {
      if (packed_.IsOf(b) && MatMulKernel::GainsByPacking(p.a.rows, p.b.columns, p.b.rows)) {
        const Tensor* packed =
            packed_.Get(b, [&] { return PackOperand(context, b.data<float>(), p.b); });
        if (packed != nullptr) p.packed = PackedMatrixOf(*packed, p.b);
      }
    }
    if (context.num_inputs() == 3) return AddProduct(context, p, shape);
    SLUICE_ASSIGN_OR_RETURN(Tensor * c, context.AllocateOutput(0, shape));
    return MultiplyTensors<T>(context, p, a, b, c);
  }
  bool CanAdd() const override { return is_of_its_type_; }

  bool CanJoin(const AddingKernel& other) const override {
    const auto* product = dynamic_cast<const MatMulKernel*>(&other);
    return product != nullptr && is_of_its_type_ && product->is_of_its_type_ &&
           product->transpose_a_ == transpose_a_ && product->transpose_b_ == transpose_b_;
  }
  absl::Status ComputeJoined(KernelContext& context, int first) const override {
    const Tensor &a = context.input(first), &b = context.input(first + 1);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOf(a, b));
    absl::InlinedVector<const T*, 32> as, bs;
    for (int i = first; i < context.num_inputs(); i += 2) {
      const Tensor &of_a = context.input(i), &of_b = context.input(i + 1);
      SLUICE_INVALID_IF(of_a.shape() != a.shape() || of_b.shape() != b.shape(),
                        "expected products of ", a.shape().ToString(), " and ",
                        b.shape().ToString(), ", got one of ", of_a.shape().ToString(), " and ",
                        of_b.shape().ToString());
      as.push_back(of_a.data<T>());
      bs.push_back(of_b.data<T>());
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * c, context.AllocateOutput(0, shape));
    SumProducts(context, ProductOf(a, b), as, bs, c->data<T>());
    return absl::OkStatus();
  }

  bool GainsByPacking(int64_t m, int64_t n, int64_t k) const override {
    return std::is_same_v<T, float> && is_of_its_type_ && !transpose_a_ &&
           sluice::GainsByPacking(m, n, k);
  }

  bool CanMakeTiles() const override { return is_of_its_type_; }
  absl::StatusOr<TensorShape> ShapeOf(const Tensor& a, const Tensor& b) const override {
    SLUICE_INVALID_IF(a.rank() != b.rank(),
                      "In[0] and In[1] has different ndims: ", a.shape().ToString(), " vs. ",
                      b.shape().ToString());
    SLUICE_INVALID_IF(a.rank() != 2, "In[0] and In[1] must be matrices, got shapes ",
                      a.shape().ToString(), " and ", b.shape().ToString());
    const Products p = ProductOf(a, b);
    SLUICE_INVALID_IF(p.a.columns != p.b.rows,
                      "Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                      ", In[1]: ", b.shape().ToString());
    return TensorShape::Make({p.a.rows, p.b.columns});
  }
  absl::Status MakeTiles(KernelContext& context, const Tensor& a, const Tensor& b, double cost,
                         Take take) const override {
    const Products p = ProductOf(a, b);
    const Grid grid = GridOf<T>(p, b.data<T>());
    if (grid.count() == 0) return absl::OkStatus();
    const int64_t elements = grid.cut.rows * grid.cut.columns;
    const auto most = static_cast<int>(std::min<int64_t>(context.num_threads(), grid.count()));
    const int threads = ScratchBuffers::For(most);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({threads, elements}));
    SLUICE_ASSIGN_OR_RETURN(Tensor scratch, context.AllocateTemp(kDataTypeOf<T>, shape));
    ScratchBuffers buffers(threads);
    const double of_tile = grid.cost + cost * static_cast<double>(elements);
    context.ParallelFor(grid.count(), of_tile, [&](int64_t begin, int64_t end) {
      const int buffer = buffers.Take();
      T* const tile = scratch.data<T>() + buffer * elements;
      for (int64_t i = begin; i < end; ++i) {
        const Grid::Tile at = grid.At(i);
        MultiplyTile(p, a.data<T>(), b.data<T>(), 0, at, tile, at.columns, GemmInto::kReplace);
        take({tile, at.row, at.column, at.rows, at.columns});
      }
      buffers.GiveBack(buffer);
    });
    return absl::OkStatus();
  }

 private:
  // Returns the description of the product of the two matrices.
  Products ProductOf(const Tensor& a, const Tensor& b) const {
    return {.a = LayoutOf(a.shape(), transpose_a_, false),
            .b = LayoutOf(b.shape(), transpose_b_, false),
            .a_starts = {0},
            .b_starts = {0}};
  }

  static void SumProducts(KernelContext& context, const Products& p, absl::Span<const T* const> as,
                          absl::Span<const T* const> bs, T* c) {
    const Grid grid = GridOf<T>(p, bs[0], static_cast<int64_t>(as.size()));
    if (p.a.columns == 0) {
      std::fill_n(c, grid.m * grid.n, T(0));
      return;
    }
    const MatrixView<T> a = ViewOf(as[0], p.a), b = ViewOf(bs[0], p.b);
    context.ParallelFor(grid.count(), grid.cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Grid::Tile tile = grid.At(i);
        SumOfGemms<T>(tile.rows, tile.columns, p.a.columns,
                      {as, tile.row * a.row_step, a.row_step, a.column_step},
                      {bs, tile.column * b.column_step, b.row_step, b.column_step},
                      c + tile.row * grid.n + tile.column, grid.n);
      }
    });
  }

  // Adds the product to input 2.
  static absl::Status AddProduct(KernelContext& context, const Products& p,
                                 const TensorShape& shape) {
    const Tensor& sum = context.input(2);
    SLUICE_INVALID_IF(sum.shape() != shape, "expected a sum of shape ", shape.ToString(), ", got ",
                      sum.shape().ToString());
    const T* before = sum.data<T>();  // valid even if the output takes over the buffer
    const T* a = context.input(0).data<T>();
    const T* b = context.input(1).data<T>();
    SLUICE_ASSIGN_OR_RETURN(Tensor * c, context.ForwardOrAllocate({2}, 0, shape));
    T* to = c->data<T>();
    if (to != before) std::copy_n(before, shape.num_elements(), to);
    Multiply<T>(context, p, a, b, to, GemmInto::kAdd);
    return absl::OkStatus();
  }

  const bool is_of_its_type_;
  const bool transpose_a_;
  const bool transpose_b_;
  MadeOfConstant packed_;
};

// Computes some columns of a product of two matrices.
template <typename T>
class MatMulColumnsKernel : public Kernel, public PackedOperandReader {
 public:
  explicit MatMulColumnsKernel(KernelInit& init)
      : whole_(init),
        first_(init.attr<int64_t>("first")),
        columns_(init.attr<int64_t>("columns")),
        transpose_a_(init.attr<bool>("transpose_a")),
        transpose_b_(init.attr<bool>("transpose_b")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape whole, whole_.ShapeOf(a, b));
    SLUICE_INVALID_IF(first_ < 0 || columns_ < 0 || first_ > whole.dim(1) - columns_, "expected ",
                      columns_, " columns from ", first_, " on within a product of shape ",
                      whole.ToString());
    Products p{.a = LayoutOf(a.shape(), transpose_a_, false),
               .b = LayoutOf(b.shape(), transpose_b_, false),
               .a_starts = {0},
               .b_starts = {first_ * (transpose_b_ ? b.dim(1) : 1)}};
    p.b.columns = columns_;
    SLUICE_ASSIGN_OR_RETURN(Tensor * c, context.AllocateOutput(0, {whole.dim(0), columns_}));
    return MultiplyTensors<T>(context, p, a, b, c);
  }

  bool GainsByPacking(int64_t m, int64_t n, int64_t k) const override {
    return whole_.GainsByPacking(m, n, k);
  }

 private:
  const MatMulKernel<T> whole_;
  const int64_t first_, columns_;
  const bool transpose_a_, transpose_b_;
};

constexpr TypeSet kInFloat = {DT_FLOAT, DT_HALF, DT_BFLOAT16};

#define SLUICE_MATMUL(types, T)                  \
  KERNEL(MatMul, MatMulKernel<T>, {"T", types}); \
  KERNEL(_MatMulColumns, MatMulColumnsKernel<T>, {"T", types})

SLUICE_MATMUL(kInFloat, float);
SLUICE_MATMUL(DT_DOUBLE, double);
SLUICE_MATMUL(DT_INT16, int16_t);
SLUICE_MATMUL(DT_INT32, int32_t);
SLUICE_MATMUL(DT_INT64, int64_t);
SLUICE_MATMUL(DT_COMPLEX64, complex64);
SLUICE_MATMUL(DT_COMPLEX128, complex128);
#undef SLUICE_MATMUL

}  // namespace
}  // namespace sluice
