// The epilogue of a fused op changes the result of a matrix product or convolution while it is
// still in the cache. It adds a bias or normalises each channel, and applies an activation.
//
// Thread safety: values without locks.
// Errors: INVALID_ARGUMENT if fused_ops is empty or arguments do not fit; UNIMPLEMENTED if
// fused_ops has unknown names.
#ifndef SLUICE_OPS_MATMUL_EPILOGUE_H_
#define SLUICE_OPS_MATMUL_EPILOGUE_H_

#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "graph/status.h"

namespace sluice {

// Holds the attributes fused_ops, epsilon and leakyrelu_alpha.
class Epilogue {
 public:
  explicit Epilogue(const KernelInit& init);

  // Checks the names in fused_ops, and that the inputs from `first` on are the vectors that they
  // need, with `channels` elements each.
  absl::Status Check(KernelContext& context, int first, int64_t channels) const;

  // Applies fused_ops to `rows` rows of `channels` numbers. F is float or double. T is the type of
  // the inputs.
  template <typename T, typename F>
  absl::Status Apply(KernelContext& context, int first, int64_t rows, int64_t channels,
                     F* data) const;

 private:
  enum class Linear { kNone, kBias, kBatchNorm };
  enum class Activation {
    kNone,
    kRelu,
    kRelu6,
    kElu,
    kLeakyRelu,
    kTanh,
    kSigmoid,
    kGelu,
    kGeluErf
  };

  template <typename F>
  F Activate(F x) const;

  const std::string op_;
  const std::vector<std::string> names_;
  const float epsilon_, slope_;
  Linear linear_ = Linear::kNone;
  Activation activation_ = Activation::kNone;
  bool is_known_ = true;
};

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_EPILOGUE_H_
