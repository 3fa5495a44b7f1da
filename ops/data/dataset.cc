#include "ops/data/dataset.h"

#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

class FunctionDataset : public Dataset {
 public:
  explicit FunctionDataset(std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate)
      : iterate_(std::move(iterate)) {}
  absl::StatusOr<IteratorPointer> Iterate(Reading& reading) const override {
    return iterate_(reading);
  }

 private:
  const std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate_;
};

class FunctionIterator : public DatasetIterator {
 public:
  explicit FunctionIterator(std::function<absl::StatusOr<bool>(Tensors*)> next)
      : next_(std::move(next)) {}
  absl::StatusOr<bool> Next(Tensors* element) override { return next_(element); }

 private:
  const std::function<absl::StatusOr<bool>(Tensors*)> next_;
};

}  // namespace

DatasetPointer MakeDataset(std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate) {
  return std::make_shared<FunctionDataset>(std::move(iterate));
}

IteratorPointer MakeIterator(std::function<absl::StatusOr<bool>(Tensors*)> next) {
  return std::make_unique<FunctionIterator>(std::move(next));
}

absl::StatusOr<DatasetPointer> DatasetIn(const Tensor& tensor) {
  if (tensor.dtype() == DT_VARIANT && tensor.shape().IsScalar() && tensor.IsInitialized()) {
    const auto* variant = tensor.scalar<Variant>().get<DatasetVariant>();
    if (variant != nullptr) return variant->dataset();
  }
  return InvalidArgument("Tensor must be a Dataset object.");
}

Tensor TensorOf(DatasetPointer dataset) {
  return Tensor::Scalar(Variant(std::make_shared<DatasetVariant>(std::move(dataset))));
}

}  // namespace sluice
