#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/fused/epilogue.h"
#include "ops/math/gemm.h"
#include "ops/nn/image_tensor.h"

namespace sluice {
namespace {

template <typename T>
class FusedMatMulKernel : public Kernel {
 public:
  explicit FusedMatMulKernel(KernelInit& init)
      : transpose_a_(init.attr<bool>("transpose_a")),
        transpose_b_(init.attr<bool>("transpose_b")),
        epilogue_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != 2 || b.rank() != 2) {
      return InvalidArgument("a and b must be matrices, got shapes ", a.shape().ToString(), " and ",
                             b.shape().ToString());
    }
    const int64_t m = a.dim(transpose_a_ ? 1 : 0), k = a.dim(transpose_a_ ? 0 : 1);
    const int64_t n = b.dim(transpose_b_ ? 0 : 1);
    if (b.dim(transpose_b_ ? 1 : 0) != k) {
      return InvalidArgument("Matrix size-incompatible: In[0]: ", a.shape().ToString(),
                             ", In[1]: ", b.shape().ToString());
    }
    SLUICE_RETURN_IF_ERROR(epilogue_.Check(c, 2, n));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({m, n}));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, y;
    WrittenImages<T> z;
    SLUICE_RETURN_IF_ERROR(x.Open(c, a));
    SLUICE_RETURN_IF_ERROR(y.Open(c, b));
    SLUICE_RETURN_IF_ERROR(z.Open(c, out));
    const MatrixView<float> left =
        transpose_a_ ? MatrixView<float>{x.data(), 1, m} : MatrixView<float>{x.data(), k, 1};
    const MatrixView<float> right =
        transpose_b_ ? MatrixView<float>{y.data(), 1, k} : MatrixView<float>{y.data(), n, 1};
    if (k == 0) std::fill_n(z.data(), m * n, 0.0f);
    // Blocks of rows, so that the bits do not depend on the number of threads.
    constexpr int64_t kRows = 64;
    const double cost = static_cast<double>(kRows * n * k) / 30;
    c.ParallelFor(k == 0 ? 0 : (m + kRows - 1) / kRows, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * kRows; i < std::min(end * kRows, m); i += kRows) {
        Gemm<float>(std::min(kRows, m - i), n, k, left.FromRow(i), right, z.data() + i * n, n);
      }
    });
    SLUICE_RETURN_IF_ERROR(epilogue_.template Apply<T>(c, 2, m, n, z.data()));
    return z.Close(c);
  }

 private:
  const bool transpose_a_, transpose_b_;
  const Epilogue epilogue_;
};
using FloatsOf32 = TypeList<half, bfloat16, float>;
KERNELS(_FusedMatMul, "T", FusedMatMulKernel, FloatsOf32);

}  // namespace
}  // namespace sluice
