// What a variant of an optional holds: a tuple of tensors, or nothing. Immutable.
#ifndef SLUICE_OPS_DATA_OPTIONAL_H_
#define SLUICE_OPS_DATA_OPTIONAL_H_

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

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_OPTIONAL_H_
