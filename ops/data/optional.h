// The object in the variant tensor of a tf.data Optional: a tuple of tensors, or nothing. It is
// immutable.
#ifndef SLUICE_OPS_DATA_OPTIONAL_H_
#define SLUICE_OPS_DATA_OPTIONAL_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

struct OptionalVariant final : public VariantObject {
  explicit OptionalVariant(std::optional<Tensors> own_value) : value(std::move(own_value)) {}
  std::string TypeName() const override { return "tensorflow::data::Optional"; }

  const std::optional<Tensors> value;
};

inline Tensor OptionalTensor(std::optional<Tensors> value) {
  return Tensor::Scalar(Variant(std::make_shared<OptionalVariant>(std::move(value))));
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_OPTIONAL_H_
