#include <algorithm>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/ragged/ragged_variant.h"

namespace sluice {
namespace {

// Sets all elements to zero or to empty strings.
void ClearElements(Tensor* t) {
  if (t->dtype() == DT_STRING) {
    std::fill_n(t->data<std::string>(), t->num_elements(), std::string());
  } else if (t->bytes() > 0) {
    std::memset(t->raw(), 0, t->bytes());
  }
}

absl::Status RaggedTensorToVariantGradient(KernelContext& c) {
  const Tensor &encoded = c.input(0), &dims = c.input(2);
  SLUICE_RETURN_IF_ERROR(ExpectRank(dims, 1, "dense_values_shape must be a vector, got shape "));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(dims)));
  Tensors parts;
  int64_t count = 0;
  for (int64_t i = 0; i < encoded.num_elements(); ++i) {
    const auto* part = encoded.data<Variant>()[i].get<RaggedVariant>();
    SLUICE_INVALID_IF(part == nullptr, "Input Variant element at index ", i,
                      " doesn't hold a RaggedTensorVariant: '",
                      encoded.data<Variant>()[i].TypeName(), "'");
    SLUICE_INVALID_IF(part->values.dtype() != c.output_dtype(0),
                      "Invalid variant: expected values of type ", DataTypeName(c.output_dtype(0)),
                      ", got ", DataTypeName(part->values.dtype()));
    count += part->values.num_elements();
    parts.push_back(part->values);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (parts.empty()) {
    ClearElements(out);
    return absl::OkStatus();
  }
  SLUICE_INVALID_IF(count != shape.num_elements(), "expected ", shape.num_elements(),
                    " values in all variants, got ", count);
  JoinElements(parts, out);
  return absl::OkStatus();
}
KERNEL(RaggedTensorToVariantGradient, FunctionKernel<RaggedTensorToVariantGradient>);

}  // namespace
}  // namespace sluice
