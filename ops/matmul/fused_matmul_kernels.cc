#include "executor/kernel/made_of_constant.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/packed_operand.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {
namespace {

template <typename T>
class FusedMatMulKernel : public Kernel {
 public:
  explicit FusedMatMulKernel(KernelInit& init)
      : transpose_a_(init.attr<bool>("transpose_a")),
        transpose_b_(init.attr<bool>("transpose_b")),
        epilogue_(init),
        packed_(init, 1) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &a = c.input(0), &b = c.input(1);
    SLUICE_INVALID_IF(a.rank() != 2 || b.rank() != 2, "a and b must be matrices, got shapes ",
                      a.shape().ToString(), " and ", b.shape().ToString());
    const int64_t m = a.dim(transpose_a_ ? 1 : 0), k = a.dim(transpose_a_ ? 0 : 1);
    const int64_t n = b.dim(transpose_b_ ? 0 : 1);
    SLUICE_INVALID_IF(b.dim(transpose_b_ ? 1 : 0) != k,
                      "Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                      ", In[1]: ", b.shape().ToString());
    SLUICE_RETURN_IF_ERROR(epilogue_.Check(c, 2, n));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({m, n}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, y;
    WrittenImages<T> z;
    SLUICE_RETURN_IF_ERROR(x.Open(c, a));
    SLUICE_RETURN_IF_ERROR(y.Open(c, b));
    SLUICE_RETURN_IF_ERROR(z.Open(c, out));
    Products p{.a = LayoutOf(a.shape(), transpose_a_, false),
               .b = LayoutOf(b.shape(), transpose_b_, false),
               .a_starts = {0},
               .b_starts = {0}};
    if (packed_.IsOf(b) && !transpose_a_ && GainsByPacking(m, n, k)) {
      const Tensor* packed = packed_.Get(b, [&] { return PackOperand(c, y.data(), p.b); });
      if (packed != nullptr) p.packed = PackedMatrixOf(*packed, p.b);
    }
    Multiply<float>(c, p, x.data(), y.data(), z.data());
    SLUICE_RETURN_IF_ERROR(epilogue_.template Apply<T>(c, 2, m, n, z.data()));
    return z.Close(c);
  }

 private:
  const bool transpose_a_, transpose_b_;
  const Epilogue epilogue_;
  MadeOfConstant packed_;
};
using FloatsOf32 = TypeList<half, bfloat16, float>;
KERNELS(_FusedMatMul, "T", FusedMatMulKernel, FloatsOf32);

}  // namespace
}  // namespace sluice
