// MatMul and BatchMatMul: operands checked and laid out, then tiles of products in parallel.
#include <algorithm>
#include <thread>
#include <type_traits>

#include "executor/kernel/matrix_tiles.h"
#include "executor/kernel/running_sum.h"
#include "executor/kernel/scratch_rooms.h"
#include "ops/math/broadcast.h"
#include "ops/math/cast_loops.h"
#include "ops/math/gemm.h"

namespace sluice {
namespace {

// How one operand's matrices lie: `rows` and `columns` of op(matrix).
struct Layout {
  int64_t rows;
  int64_t columns;
  bool transposed;
  bool conjugate;
  int64_t step;  // from a row of the matrix, as it lies, to the next
  int64_t elements() const { return rows * columns; }
};

Layout LayoutOf(const TensorShape& s, bool transposed, bool conjugate) {
  const int64_t rows = s.dim(s.rank() - 2), columns = s.dim(s.rank() - 1);
  return transposed ? Layout{columns, rows, true, conjugate, columns}
                    : Layout{rows, columns, false, false, columns};
}

template <typename T>
MatrixView<T> ViewOf(const T* data, const Layout& l) {
  return l.transposed ? MatrixView<T>{data, 1, l.step, l.conjugate}
                      : MatrixView<T>{data, l.step, 1, false};
}

// A product of batches. Where each product's matrices start is in elements.
struct Products {
  Layout a, b;
  // One a product; the result's follow each other.
  absl::InlinedVector<int64_t, 64> a_starts, b_starts;
  int64_t count() const { return static_cast<int64_t>(a_starts.size()); }
};

// The size of a product's tiles.
struct Cut {
  int64_t rows, columns;
};

int64_t TileOf(int64_t length, int64_t tiles, int64_t grain) {
  return std::max((length / tiles + grain - 1) / grain * grain, grain);
}

// A call of Gemm packs both of its operands, so the smaller side stays whole, and the tiles are as
// few as this machine's cores allow. The grain is the libraries' own.
Cut CutOfFloats(int64_t m, int64_t n, int64_t k, MatrixView<float> b) {
  constexpr int64_t kLarge = 2048, kRowGrain = 8, kColumnGrain = 32, kMost = 16;
  // Of the machine, not of the session: results do not depend on its threads.
  static const int64_t cores = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  // Half a vector of columns takes as long as a whole one.
  const double flops = 2.0 * static_cast<double>(m) *
                       static_cast<double>(n >= 8 ? std::max<int64_t>(n, 16) : n) *
                       static_cast<double>(k);
  const auto tiles = [&](int64_t enough) {
    const int64_t most = std::min(std::max(enough, 2 * cores), kMost);
    return std::clamp<int64_t>(static_cast<int64_t>(flops / 1e6), 1, most);
  };
  if (GemmIsSplit(m, n, k)) {
    const auto most = std::clamp<int64_t>(static_cast<int64_t>(flops / 2e6), 1, cores);
    return m > n ? Cut{TileOf(m, most, 32), n} : Cut{m, TileOf(n, most, 32)};
  }
  if (GemmTurns(m, n, k, b)) {
    // Rows are packed as they are cut; columns would have them packed again and again.
    return m >= 64 ? Cut{TileOf(m, tiles(kMost), 32), n} : Cut{m, TileOf(n, tiles(4), 32)};
  }
  if (m >= kLarge && n >= kLarge) {
    const int64_t parts = cores <= 2 ? 2 : 4;
    return {TileOf(m, parts, kRowGrain), TileOf(n, parts, kColumnGrain)};
  }
  if (m >= n) {
    for (const int64_t rows : {64, 32}) {
      if (GemmTurns(rows, n, k, b)) return {rows, n};
    }
    const bool overflows_cache = k * n > 600'000;  // the second, as far as machines are alike
    return {TileOf(m, tiles(overflows_cache ? 4 : 8), kRowGrain), n};
  }
  return {m, TileOf(n, tiles(n / 128), kColumnGrain)};
}

template <typename T>
Cut CutOf(int64_t m, int64_t n, int64_t k, MatrixView<T> b) {
  if constexpr (std::is_same_v<T, float>) {
    return CutOfFloats(m, n, k, b);
  } else {
    constexpr int64_t kGrain = 48;
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const auto tiles = std::clamp<int64_t>(static_cast<int64_t>(flops / 1e6), 1, 16);
    return m >= n ? Cut{TileOf(m, tiles, kGrain), n} : Cut{m, TileOf(n, tiles, kGrain)};
  }
}

// One product of a batch cut into tiles, each one call of Gemm. The cut follows from the sizes and
// the machine, so the result does not depend on a session's threads.
struct Grid {
  struct Tile {
    int64_t row, column, rows, columns;
  };
  int64_t m, n;
  Cut cut;
  double cost;  // of a tile, in nanoseconds

  int64_t across() const { return (n + cut.columns - 1) / cut.columns; }
  int64_t count() const { return m * n == 0 ? 0 : (m + cut.rows - 1) / cut.rows * across(); }
  Tile At(int64_t i) const {
    const int64_t row = i / across() * cut.rows, column = i % across() * cut.columns;
    return {row, column, std::min(cut.rows, m - row), std::min(cut.columns, n - column)};
  }
};

// `terms` such products may be summed.
template <typename T>
Grid GridOf(const Products& p, const T* b, int64_t terms = 1) {
  constexpr double kFlopsPerNs = std::is_same_v<T, float> ? 80 : (sizeof(T) == 8 ? 20 : 10);
  const int64_t depth = p.a.columns * terms;
  Grid grid{p.a.rows, p.b.columns, CutOf<T>(p.a.rows, p.b.columns, depth, ViewOf(b, p.b)), 0};
  const double flops =
      2.0 * static_cast<double>(grid.m) * static_cast<double>(grid.n) * static_cast<double>(depth);
  grid.cost = flops / static_cast<double>(std::max<int64_t>(grid.count(), 1)) / kFlopsPerNs;
  return grid;
}

template <typename T>
void MultiplyTile(const Products& p, const T* a, const T* b, int64_t product,
                  const Grid::Tile& tile, T* c, int64_t c_step, GemmInto into) {
  if (p.a.columns == 0) {
    if (into == GemmInto::kAdd) return;
    for (int64_t row = 0; row < tile.rows; ++row) std::fill_n(c + row * c_step, tile.columns, T(0));
    return;
  }
  const MatrixView<T> va = ViewOf(a + p.a_starts[product], p.a);
  const MatrixView<T> vb = ViewOf(b + p.b_starts[product], p.b);
  Gemm<T>(tile.rows, tile.columns, p.a.columns, va.FromRow(tile.row), vb.FromColumn(tile.column), c,
          c_step, into);
}

template <typename T>
void Multiply(KernelContext& context, const Products& p, const T* a, const T* b, T* c,
              GemmInto into = GemmInto::kReplace) {
  const Grid grid = GridOf<T>(p, b);
  const int64_t tiles = grid.count();
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t product = i / tiles;
      const Grid::Tile tile = grid.At(i % tiles);
      T* const to = c + product * grid.m * grid.n + tile.row * grid.n + tile.column;
      MultiplyTile(p, a, b, product, tile, to, grid.n, into);
    }
  };
  const int64_t total = p.count() * tiles;
  if (total <= 1) {
    run(0, total);
  } else {
    context.ParallelFor(total, grid.cost, run);
  }
}

// `x` with elements of type T; itself where they are.
template <typename T>
absl::StatusOr<Tensor> As(KernelContext& context, const Tensor& x) {
  if (x.dtype() == kDataTypeOf<T>) return x;
  SLUICE_ASSIGN_OR_RETURN(Tensor converted, context.AllocateTemp(kDataTypeOf<T>, x.shape()));
  FindCastLoop(x.dtype(), kDataTypeOf<T>, false)(x.raw(), converted.raw(), x.num_elements());
  return converted;
}

// Products computed in type T; the tensors may be of narrower types (16-bit floating numbers in
// float, bytes in int32).
template <typename T>
absl::Status MultiplyTensors(KernelContext& context, const Products& p, const Tensor& a,
                             const Tensor& b, Tensor* c) {
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_a, As<T>(context, a));
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_b, As<T>(context, b));
  if (c->dtype() == kDataTypeOf<T>) {
    Multiply<T>(context, p, wide_a.data<T>(), wide_b.data<T>(), c->data<T>());
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor wide_c, context.AllocateTemp(kDataTypeOf<T>, c->shape()));
  Multiply<T>(context, p, wide_a.data<T>(), wide_b.data<T>(), wide_c.data<T>());
  FindCastLoop(kDataTypeOf<T>, c->dtype(), false)(wide_c.raw(), c->raw(), c->num_elements());
  return absl::OkStatus();
}

template <typename T>
class MatMulKernel : public AddingKernel, public TileMaker {
 public:
  explicit MatMulKernel(KernelInit& init)
      : is_of_its_type_(init.attr<DataType>("T") == kDataTypeOf<T>),
        transpose_a_(init.attr<bool>("transpose_a")),
        transpose_b_(init.attr<bool>("transpose_b")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeOf(a, b));
    const Products p = ProductOf(a, b);
    if (context.num_inputs() == 3) return AddProduct(context, p, shape);
    Tensor* c;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &c));
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
      if (of_a.shape() != a.shape() || of_b.shape() != b.shape()) {
        return InvalidArgument("expected products of ", a.shape().ToString(), " and ",
                               b.shape().ToString(), ", got one of ", of_a.shape().ToString(),
                               " and ", of_b.shape().ToString());
      }
      as.push_back(of_a.data<T>());
      bs.push_back(of_b.data<T>());
    }
    Tensor* c;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &c));
    SumProducts(context, ProductOf(a, b), as, bs, c->data<T>());
    return absl::OkStatus();
  }

  bool CanMakeTiles() const override { return is_of_its_type_; }
  absl::StatusOr<TensorShape> ShapeOf(const Tensor& a, const Tensor& b) const override {
    if (a.rank() != 2 || b.rank() != 2) {
      return InvalidArgument("In[0] and In[1] must be matrices, got shapes ", a.shape().ToString(),
                             " and ", b.shape().ToString());
    }
    const Products p = ProductOf(a, b);
    if (p.a.columns != p.b.rows) {
      return InvalidArgument("Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                             ", In[1]: ", b.shape().ToString());
    }
    return TensorShape::Make({p.a.rows, p.b.columns});
  }
  absl::Status MakeTiles(KernelContext& context, const Tensor& a, const Tensor& b, double cost,
                         Take take) const override {
    const Products p = ProductOf(a, b);
    const Grid grid = GridOf<T>(p, b.data<T>());
    if (grid.count() == 0) return absl::OkStatus();
    const int64_t elements = grid.cut.rows * grid.cut.columns;
    const auto most = static_cast<int>(std::min<int64_t>(context.num_threads(), grid.count()));
    const int threads = ScratchRooms::For(most);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({threads, elements}));
    SLUICE_ASSIGN_OR_RETURN(Tensor scratch, context.AllocateTemp(kDataTypeOf<T>, shape));
    ScratchRooms rooms(threads);
    const double of_tile = grid.cost + cost * static_cast<double>(elements);
    context.ParallelFor(grid.count(), of_tile, [&](int64_t begin, int64_t end) {
      const int room = rooms.Take();
      T* const tile = scratch.data<T>() + room * elements;
      for (int64_t i = begin; i < end; ++i) {
        const Grid::Tile at = grid.At(i);
        MultiplyTile(p, a.data<T>(), b.data<T>(), 0, at, tile, at.columns, GemmInto::kReplace);
        take({tile, at.row, at.column, at.rows, at.columns});
      }
      rooms.GiveBack(room);
    });
    return absl::OkStatus();
  }

 private:
  // Of two matrices.
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

  // Input 2 is a sum that the product goes into.
  static absl::Status AddProduct(KernelContext& context, const Products& p,
                                 const TensorShape& shape) {
    const Tensor& sum = context.input(2);
    if (sum.shape() != shape) {
      return InvalidArgument("expected a sum of shape ", shape.ToString(), ", got ",
                             sum.shape().ToString());
    }
    const T* before = sum.data<T>();  // stays where it is if the output takes it over
    const T* a = context.input(0).data<T>();
    const T* b = context.input(1).data<T>();
    Tensor* c;
    SLUICE_RETURN_IF_ERROR(context.ForwardOrAllocate({2}, 0, shape, &c));
    T* to = c->data<T>();
    if (to != before) std::copy_n(before, shape.num_elements(), to);
    Multiply<T>(context, p, a, b, to, GemmInto::kAdd);
    return absl::OkStatus();
  }

  const bool is_of_its_type_;
  const bool transpose_a_;
  const bool transpose_b_;
};

// Some columns of a product of two matrices.
template <typename T>
class MatMulColumnsKernel : public Kernel {
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
    if (first_ < 0 || columns_ < 0 || first_ > whole.dim(1) - columns_) {
      return InvalidArgument("expected ", columns_, " columns from ", first_,
                             " on within a product of shape ", whole.ToString());
    }
    Products p{.a = LayoutOf(a.shape(), transpose_a_, false),
               .b = LayoutOf(b.shape(), transpose_b_, false),
               .a_starts = {0},
               .b_starts = {first_ * (transpose_b_ ? b.dim(1) : 1)}};
    p.b.columns = columns_;
    Tensor* c;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, {whole.dim(0), columns_}, &c));
    return MultiplyTensors<T>(context, p, a, b, c);
  }

 private:
  const MatMulKernel<T> whole_;
  const int64_t first_, columns_;
  const bool transpose_a_, transpose_b_;
};

// Batch dimensions that must be equal (BatchMatMul) or may broadcast (V2, V3).
template <typename T, bool kBroadcasts>
class BatchMatMulKernel : public Kernel {
 public:
  explicit BatchMatMulKernel(KernelInit& init)
      : adj_x_(init.attr<bool>("adj_x")), adj_y_(init.attr<bool>("adj_y")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& x = context.input(0);
    const Tensor& y = context.input(1);
    SLUICE_RETURN_IF_ERROR(CheckShapes(x.shape(), y.shape()));
    Products p{.a = LayoutOf(x.shape(), adj_x_, true), .b = LayoutOf(y.shape(), adj_y_, true)};
    if (p.a.columns != p.b.rows) {
      return InvalidArgument("Matrix size-incompatible: In[0]: ", x.shape().ToString(),
                             ", In[1]: ", y.shape().ToString());
    }
    const TensorShape x_batch(x.shape().dims().subspan(0, x.rank() - 2));
    const TensorShape y_batch(y.shape().dims().subspan(0, y.rank() - 2));
    absl::StatusOr<BroadcastPlan<2>> plan = PlanBroadcast<2>({&x_batch, &y_batch});
    if (!plan.ok()) {
      return InvalidArgument("In[0] and In[1] must have compatible batch dimensions: ",
                             x.shape().ToString(), " vs. ", y.shape().ToString());
    }
    absl::InlinedVector<int64_t, 8> dims(plan->shape.dims().begin(), plan->shape.dims().end());
    dims.push_back(p.a.rows);
    dims.push_back(p.b.columns);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    Tensor* output;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &output));
    if (shape.num_elements() == 0) return absl::OkStatus();  // however many matrices
    const int64_t inner = plan->inner();
    ForRows<2>(*plan, 0, plan->rows(), [&](int64_t, const std::array<int64_t, 2>& at) {
      for (int64_t i = 0; i < inner; ++i) {
        p.a_starts.push_back((at[0] + i * plan->strides[0].back()) * p.a.elements());
        p.b_starts.push_back((at[1] + i * plan->strides[1].back()) * p.b.elements());
      }
    });
    return MultiplyTensors<T>(context, p, x, y, output);
  }

 private:
  absl::Status CheckShapes(const TensorShape& x, const TensorShape& y) const {
    if (!kBroadcasts && x.rank() != y.rank()) {
      return InvalidArgument("In[0] and In[1] has different ndims: ", x.ToString(), " vs. ",
                             y.ToString());
    }
    if (x.rank() < 2) return InvalidArgument("In[0] ndims must be >= 2: ", x.rank());
    if (y.rank() < 2) return InvalidArgument("In[1] ndims must be >= 2: ", y.rank());
    if (!kBroadcasts && x.dims().subspan(0, x.rank() - 2) != y.dims().subspan(0, y.rank() - 2)) {
      return InvalidArgument("In[0] and In[1] must have the same batch dimensions: ", x.ToString(),
                             " vs. ", y.ToString());
    }
    return absl::OkStatus();
  }

  const bool adj_x_;
  const bool adj_y_;
};

constexpr TypeSet kInFloat = {DT_FLOAT, DT_HALF, DT_BFLOAT16};

#define SLUICE_MATMUL(types, T)                                                                  \
  KERNEL(MatMul, MatMulKernel<T>, {"T", types});                                                 \
  KERNEL(_MatMulColumns, MatMulColumnsKernel<T>, {"T", types});                                  \
  KERNEL(BatchMatMul, BatchMatMulSame<T>, {"T", types});                                         \
  KERNEL(BatchMatMulV2, BatchMatMulBroadcast<T>, {"T", types});                                  \
  KERNEL(BatchMatMulV3, BatchMatMulBroadcast<T>, {"Ta", kDataTypeOf<T>}, {"Tb", kDataTypeOf<T>}, \
         {"Tout", kDataTypeOf<T>})

template <typename T>
using BatchMatMulSame = BatchMatMulKernel<T, false>;
template <typename T>
using BatchMatMulBroadcast = BatchMatMulKernel<T, true>;
SLUICE_MATMUL(kInFloat, float);
SLUICE_MATMUL(DT_DOUBLE, double);
SLUICE_MATMUL(DT_INT16, int16_t);
SLUICE_MATMUL(DT_INT32, int32_t);
SLUICE_MATMUL(DT_INT64, int64_t);
SLUICE_MATMUL(DT_COMPLEX64, complex64);
SLUICE_MATMUL(DT_COMPLEX128, complex128);
#undef SLUICE_MATMUL

// Mixed types.
constexpr TypeSet kBytes = {DT_INT8, DT_UINT8};
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<int32_t>, {"Ta", kBytes}, {"Tb", kBytes},
       {"Tout", DT_INT32});
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<float>, {"Ta", kBytes | DT_BFLOAT16},
       {"Tb", DT_BFLOAT16}, {"Tout", DT_BFLOAT16});
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<float>, {"Ta", DT_BFLOAT16}, {"Tb", kBytes},
       {"Tout", DT_BFLOAT16});

}  // namespace
}  // namespace sluice
