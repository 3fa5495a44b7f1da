// The object in a variant that contains a tensor. A serialised sparse tensor consists of three such
// variants.
#ifndef SLUICE_OPS_SPARSE_TENSOR_VARIANT_H_
#define SLUICE_OPS_SPARSE_TENSOR_VARIANT_H_

#include <memory>
#include <string>
#include <utility>

#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

class TensorVariant final : public VariantObject {
 public:
  explicit TensorVariant(Tensor tensor) : tensor_(std::move(tensor)) {}
  std::string TypeName() const override { return "tensorflow::Tensor"; }
  const Tensor& tensor() const { return tensor_; }

 private:
  const Tensor tensor_;
};

inline Variant AsVariant(Tensor tensor) {
  return Variant(std::make_shared<const TensorVariant>(std::move(tensor)));
}

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_TENSOR_VARIANT_H_
