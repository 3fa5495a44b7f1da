// Kernels of products whose second operand is packed by a separate op
// (executor/passes/pack_operands.h).
#include <utility>

#include "executor/kernel/made_of_constant.h"
#include "ops/matmul/packed_operand.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {
namespace {

// The columns of op(b) that a node uses.
struct Columns {
  explicit Columns(const KernelInit& init)
      : first(init.attr<int64_t>("first")),
        count(init.attr<int64_t>("columns")),
        transpose_b(init.attr<bool>("transpose_b")) {}

  absl::StatusOr<Layout> LayoutIn(const Tensor& b) const {
    SLUICE_RETURN_IF_ERROR(ExpectRank(b, 2, "expected a matrix b, got shape "));
    Layout layout = LayoutOf(b.shape(), transpose_b, false);
    SLUICE_INVALID_IF(first < 0 || count < 0 || first > layout.columns - count, "expected ", count,
                      " columns from ", first, " on within a matrix of ", layout.columns,
                      " columns");
    layout.columns = count;
    return layout;
  }
  int64_t StartIn(const Tensor& b) const { return first * (transpose_b ? b.dim(1) : 1); }

  const int64_t first, count;
  const bool transpose_b;
};

class PackColumnsKernel : public Kernel {
 public:
  explicit PackColumnsKernel(KernelInit& init) : columns_(init), kept_(init, 0) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& b = context.input(0);
    SLUICE_ASSIGN_OR_RETURN(const Layout layout, columns_.LayoutIn(b));
    const auto pack = [&] {
      return PackOperand(context, b.data<float>() + columns_.StartIn(b), layout);
    };
    if (const Tensor* kept = kept_.Get(b, pack)) {
      context.set_output(0, *kept);
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor packed, pack());
    context.set_output(0, std::move(packed));
    return absl::OkStatus();
  }

 private:
  const Columns columns_;
  MadeOfConstant kept_;
};

absl::Status PackedMatMul(KernelContext& context, const Columns& columns) {
  const Tensor &a = context.input(0), &b = context.input(1), &packed = context.input(2);
  SLUICE_ASSIGN_OR_RETURN(const Layout of_b, columns.LayoutIn(b));
  SLUICE_INVALID_IF(a.rank() != 2 || a.dim(1) != of_b.rows,
                    "Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                    ", In[1]: ", b.shape().ToString());
  Products p{.a = LayoutOf(a.shape(), false, false),
             .b = of_b,
             .a_starts = {0},
             .b_starts = {columns.StartIn(b)}};
  const int64_t bytes = PackedBytes(of_b.columns, of_b.rows);
  SLUICE_INVALID_IF(packed.num_elements() != bytes, "expected ", bytes,
                    " bytes of packed columns, got ", packed.num_elements());
  // On processors without a matrix unit, _PackColumns returns no bytes. A packed tensor that was
  // fed may be unaligned. Both cases use the original operand.
  if (bytes > 0 && reinterpret_cast<uintptr_t>(packed.raw()) % 64 == 0) {
    p.packed = PackedMatrixOf(packed, of_b);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * c, context.AllocateOutput(0, {a.dim(0), of_b.columns}));
  Multiply<float>(context, p, a.data<float>(), b.data<float>(), c->data<float>());
  return absl::OkStatus();
}

KERNEL(_PackColumns, PackColumnsKernel);
KERNEL(_PackedMatMul, FunctionKernel<PackedMatMul>);

}  // namespace
}  // namespace sluice
