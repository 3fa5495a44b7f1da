// The epilogue of fused ops. It changes the result of a product or convolution before it leaves the
// cache: a bias or a batch normalisation of each channel, and an activation.
//
// Thread safety: values without locks.
// Errors: INVALID_ARGUMENT without any op and for arguments that do not fit, UNIMPLEMENTED for
// unknown ops.
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

  // Checks the names, and that the inputs from `first` on are the vectors that the ops take, of
  // `channels` elements each.
  absl::Status Check(KernelContext& context, int first, int64_t channels) const;

  // Applies the ops to `rows` rows of `channels` numbers. F is float or double. T is the type of
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
