#include <dnnl.h>

#include <algorithm>

#include "executor/cpu/instruction_sets.h"
#include "ops/matmul/library_gemm.h"

// Sets the number of OpenMP threads of the calling thread. It is declared here, so that no file
// needs -fopenmp.
extern "C" void omp_set_num_threads(int);

namespace sluice {
namespace {

// Limits the instruction sets of oneDNN to those that SLUICE_CPU permits, because oneDNN examines
// the processor itself.
void LimitInstructionSets() {
  switch (InstructionSetLimit()) {
    case InstructionSets::kNone:
    case InstructionSets::kSse4:
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
      break;
    case InstructionSets::kAvx2:
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
      break;
    case InstructionSets::kAvx512:
      dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core);
      break;
    case InstructionSets::kAll:
      break;
  }
}

}  // namespace

void LibraryGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                 float* c, int64_t c_step, GemmInto into) {
  // The executor runs shards in parallel, so further threads of the library would compete for the
  // same cores.
  thread_local const bool alone = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(alone);
  static const bool is_limited = [] {
    LimitInstructionSets();
    return true;
  }();
  static_cast<void>(is_limited);
  const bool ta = a.column_step != 1, tb = b.column_step != 1;
  // The step of a row or column of length one has no meaning, but the library checks it.
  const int64_t lda = std::max(ta ? a.column_step : a.row_step, ta ? m : k);
  const int64_t ldb = std::max(tb ? b.column_step : b.row_step, tb ? k : n);
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0f, a.data, lda, b.data, ldb,
             into == GemmInto::kAdd ? 1.0f : 0.0f, c, c_step);
}

}  // namespace sluice
