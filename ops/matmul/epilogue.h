// The epilogue of a fused op changes the result of a matrix product or convolution. It adds a bias
// or normalises each channel, and then applies an activation, if there is one.
//
// Thread safety: an Epilogue is immutable.
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

// The operations of one node, from its attributes fused_ops, epsilon and leakyrelu_alpha.
class Epilogue {
 public:
  explicit Epilogue(const KernelInit& init);

  // Checks the names in fused_ops, and the inputs from `first` on. These must be the vectors that
  // fused_ops need, such as a bias, with `channels` elements each.
  absl::Status Check(KernelContext& context, int first, int64_t channels) const;

  // Applies fused_ops to `data`, `rows` rows of `channels` numbers, in place. F is float or double.
  // T is the type of the inputs. `first` is as in Check, whose errors Apply returns.
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
