#include "executor/memory/copy_costs.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "executor/kernel/elementwise_loops.h"

namespace sluice {
namespace {

using Ops = std::unordered_set<std::string_view>;

// Beside all elementwise ops, which their kernels tell. Sums of tensors (AddN) are not among them:
// the plan may add their terms in another order than those of the first time.
bool IsSmall(std::string_view op) {
  static const Ops* ops = new Ops{"BiasAdd",
                                  "BiasAddV1",
                                  "BroadcastTo",
                                  "Cast",
                                  "Concat",
                                  "ConcatV2",
                                  "ExpandDims",
                                  "Fill",
                                  "FusedBatchNorm",
                                  "FusedBatchNormV2",
                                  "FusedBatchNormV3",
                                  "Identity",
                                  "LeakyRelu",
                                  "LogSoftmax",
                                  "Max",
                                  "MaxPool",
                                  "AvgPool",
                                  "Mean",
                                  "Min",
                                  "MirrorPad",
                                  "OneHot",
                                  "OnesLike",
                                  "Pack",
                                  "Pad",
                                  "PadV2",
                                  "Reshape",
                                  "Select",
                                  "SelectV2",
                                  "Slice",
                                  "Softmax",
                                  "Split",
                                  "SplitV",
                                  "Squeeze",
                                  "StridedSlice",
                                  "Sum",
                                  "Tile",
                                  "Transpose",
                                  "Unpack",
                                  "ZerosLike",
                                  "_FusedBatchNormEx"};
  return ops->contains(op);
}

bool IsConvolution(std::string_view op) {
  static const Ops* ops = new Ops{"Conv2D", "Conv3D", "DepthwiseConv2dNative", "_FusedConv2D"};
  return ops->contains(op);
}

bool IsMatrixProduct(std::string_view op) {
  static const Ops* ops = new Ops{"BatchMatMul",  "BatchMatMulV2",  "MatMul",
                                  "_FusedMatMul", "_MatMulColumns", "_PackedMatMul"};
  return ops->contains(op);
}

bool IsAttention(std::string_view op) { return op == "_Attention"; }

constexpr double kNsPerElement = 1;
constexpr double kNsPerProduct = 0.02;

}  // namespace

Effort EffortOf(const Node& node, const Kernel* kernel) {
  if (IsSmall(node.op())) return Effort::kSmall;
  if (dynamic_cast<const ElementwiseLoopKernel*>(kernel) != nullptr) return Effort::kSmall;
  const bool is_product =
      IsConvolution(node.op()) || IsMatrixProduct(node.op()) || IsAttention(node.op());
  return is_product ? Effort::kProduct : Effort::kNever;
}

CopyCosts::CopyCosts(const MemoryPlan& memory) {
  for (const PlannedTensor& tensor : memory.tensors) {
    for (const Output& result : tensor.results) bytes_[result] = tensor.bytes;
  }
}

double CopyCosts::Elements(const Output& tensor) const {
  const auto known = bytes_.find(tensor);
  if (known != bytes_.end() && known->second >= 0) {
    return static_cast<double>(known->second) /
           static_cast<double>(std::max<size_t>(DataTypeSize(BaseType(tensor.dtype())), 1));
  }
  if (!tensor.shape().IsFullyDefined()) return 1;
  return static_cast<double>(tensor.shape().AsShape().num_elements());
}

double CopyCosts::Of(const Node& node) const {
  double elements = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    elements += Elements(Output(const_cast<Node*>(&node), i));
  }
  double products = 0;
  if (IsMatrixProduct(node.op())) {  // m k, k n and m n elements
    products = std::sqrt(Elements(node.input(0)) * Elements(node.input(1)) * elements);
  } else if (IsAttention(node.op())) {  // sizes are known
    const PartialShape& v = node.input(2).shape();
    const int64_t columns = v.rank() < 2 ? 1 : v.dim(v.rank() - 2);
    products = 2 * elements * static_cast<double>(columns);
  } else if (IsConvolution(node.op())) {
    const PartialShape& filter = node.input(1).shape();
    const bool known = filter.rank_known() && filter.rank() > 0;
    const int64_t channels = known ? filter.dim(filter.rank() - 1) : 1;
    products =
        elements * Elements(node.input(1)) / static_cast<double>(std::max<int64_t>(channels, 1));
  }
  return elements * kNsPerElement + products * kNsPerProduct;
}

}  // namespace sluice
