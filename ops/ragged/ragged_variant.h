// A ragged tensor as the object in a variant. The op RaggedTensorToVariant makes such variants.
//
// Thread safety: immutable.
#ifndef SLUICE_OPS_RAGGED_RAGGED_VARIANT_H_
#define SLUICE_OPS_RAGGED_RAGGED_VARIANT_H_

#include <string>

#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

struct RaggedVariant final : public VariantObject {
  RaggedVariant(Tensors own_splits, Tensor own_values)
      : splits(std::move(own_splits)), values(std::move(own_values)) {}
  std::string TypeName() const override { return "RaggedTensorVariant"; }

  const Tensors splits;  // outermost dimension first
  const Tensor values;
};

}  // namespace sluice

#endif  // SLUICE_OPS_RAGGED_RAGGED_VARIANT_H_
