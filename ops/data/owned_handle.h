// Handles that own their resource, which nothing else can find by its name.
#ifndef SLUICE_OPS_DATA_OWNED_HANDLE_H_
#define SLUICE_OPS_DATA_OWNED_HANDLE_H_

#include <memory>
#include <string>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/tensor/variant.h"
#include "ops/state/named_resource.h"

namespace sluice {

// The second output of an op that makes a resource. It owns the resource too.
class ResourceDeleter : public VariantObject {
 public:
  explicit ResourceDeleter(std::shared_ptr<void> resource) : resource_(std::move(resource)) {}
  std::string TypeName() const override { return "tensorflow::ResourceDeleter"; }

 private:
  const std::shared_ptr<void> resource_;
};

// Outputs a handle of `resource`, and a deleter if the op has an output for it.
template <typename R>
void SetOwnedHandle(KernelContext& c, std::shared_ptr<R> resource) {
  c.set_output(0, Tensor::Scalar(OwningHandle(c.name(), resource)));
  if (c.num_outputs() < 2) return;
  c.set_output(1, Tensor::Scalar(Variant(std::make_shared<ResourceDeleter>(std::move(resource)))));
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_OWNED_HANDLE_H_
