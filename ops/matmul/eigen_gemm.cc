#include "executor/cpu/instruction_sets.h"
#include "ops/matmul/eigen_product.h"
#include "ops/matmul/library_gemm.h"

namespace sluice {
namespace {

EigenProduct* ProductForProcessor() {
  switch (UsableInstructionSets()) {
    case InstructionSets::kAvx512:
      return EigenProductAvx512;
    case InstructionSets::kAvx2:
      return EigenProductAvx2;
    default:
      return EigenProductSse2;
  }
}

ProductOperand OperandOf(const MatrixView<float>& view) {
  return {view.data, view.row_step, view.column_step};
}

}  // namespace

void LibraryGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                 float* c, int64_t c_step, GemmInto into) {
  static EigenProduct* const product = ProductForProcessor();
  product(m, n, k, OperandOf(a), OperandOf(b), c, c_step, into == GemmInto::kAdd);
}

}  // namespace sluice
