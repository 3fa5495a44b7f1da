#include "ops/data/dataset.h"

#include <algorithm>
#include <utility>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

class FunctionDataset : public Dataset {
 public:
  FunctionDataset(DatasetFacts facts,
                  std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate, ElementAt at)
      : Dataset(std::move(facts)), iterate_(std::move(iterate)), at_(std::move(at)) {}
  absl::StatusOr<IteratorPointer> Iterate(Reading& reading) const override {
    return iterate_(reading);
  }
  bool has_random_access() const override { return at_ != nullptr; }
  absl::StatusOr<Tensors> At(int64_t index, Reading& reading) const override {
    if (at_ == nullptr) return Dataset::At(index, reading);
    SLUICE_RETURN_IF_ERROR(CheckIndex(index, facts().cardinality));
    return at_(index, reading);
  }

 private:
  static absl::Status CheckIndex(int64_t index, int64_t cardinality) {
    if (cardinality < 0) {
      return absl::FailedPreconditionError(
          StrCat("Dataset has ", cardinality == DatasetFacts::kInfinite ? "infinite" : "unknown",
                 " cardinality, which does not support random access."));
    }
    if (index >= 0 && index < cardinality) return absl::OkStatus();
    return absl::OutOfRangeError(StrCat("Index out of range [0, ", cardinality, "):", index));
  }

  const std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate_;
  const ElementAt at_;
};

}  // namespace

absl::Status CheckNotCancelled(const Reading& reading) {
  if (reading.gate != nullptr && reading.cancellation.IsWanted()) {
    reading.gate->Pass(reading.reads_ahead);
  }
  if (reading.cancellation.IsWanted()) return absl::OkStatus();
  return absl::CancelledError("Operation was cancelled");
}

int64_t DatasetFacts::Sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kUnknown : sum;
}

int64_t DatasetFacts::Product(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kUnknown : product;
}

DatasetFacts DatasetFacts::WithCardinality(int64_t count) const {
  return {.cardinality = count, .rows = rows, .options = options};
}

DatasetFacts DatasetFacts::OfOtherElements() const {
  return {.cardinality = cardinality, .options = options};
}

DatasetFacts DatasetFacts::And(const DatasetFacts& other) const {
  // The options are serialised messages. Concatenating two messages merges them.
  return {.options = options + other.options};
}

absl::StatusOr<Tensors> Dataset::At(int64_t, Reading&) const {
  return absl::UnimplementedError("Random access is not implemented for dataset");
}

DatasetPointer MakeDataset(DatasetFacts facts,
                           std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate,
                           ElementAt at) {
  return std::make_shared<FunctionDataset>(std::move(facts), std::move(iterate), std::move(at));
}

DatasetPointer DatasetOf(DatasetFacts facts, std::vector<Tensors> elements) {
  facts.cardinality = static_cast<int64_t>(elements.size());
  auto shared = std::make_shared<const std::vector<Tensors>>(std::move(elements));
  const auto iterate = [shared](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([shared, at = size_t{0}](Tensors* element) mutable {
      if (at == shared->size()) return false;
      *element = (*shared)[at++];
      return true;
    });
  };
  return MakeDataset(std::move(facts), iterate, [shared](int64_t index, Reading&) {
    return (*shared)[static_cast<size_t>(index)];
  });
}

absl::StatusOr<DatasetPointer> DatasetIn(const Tensor& tensor) {
  if (tensor.dtype() == DT_VARIANT && tensor.shape().IsScalar() && tensor.IsInitialized()) {
    const auto* variant = tensor.scalar<Variant>().get<DatasetVariant>();
    if (variant != nullptr) return variant->dataset();
  }
  return InvalidArgument("Tensor must be a Dataset object.");
}

Tensor TensorOf(DatasetPointer dataset, int depth, std::shared_ptr<const DatasetOrigin> origin) {
  return Tensor::Scalar(
      Variant(std::make_shared<DatasetVariant>(std::move(dataset), depth, std::move(origin))));
}

absl::Status ReadAll(
    const KernelContext& c, const Dataset& dataset,
    const std::function<absl::Status(const Tensors& element, Reading& reading)>& take) {
  Reading reading(c.step().cancellation);
  SLUICE_ASSIGN_OR_RETURN(const IteratorPointer iterator, dataset.Iterate(reading));
  while (true) {
    SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
    Tensors element;
    SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&element));
    if (!any) return absl::OkStatus();
    SLUICE_RETURN_IF_ERROR(take(element, reading));
  }
}

absl::Status SetDatasetOutput(KernelContext& c, DatasetPointer dataset) {
  int deepest = 0;
  auto origin = std::make_shared<DatasetOrigin>();
  origin->op = c.node().op();
  origin->attrs = c.node().attrs();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Tensor& input = c.input(i);
    origin->inputs.push_back(input);
    for (int64_t k = 0; input.dtype() == DT_VARIANT && k < input.num_elements(); ++k) {
      const auto* read = input.data<Variant>()[k].get<DatasetVariant>();
      if (read != nullptr) deepest = std::max(deepest, read->depth());
    }
  }
  if (deepest >= kMaxDatasetDepth) {
    return absl::ResourceExhaustedError(
        StrCat("expected a chain of at most ", kMaxDatasetDepth, " datasets, got a longer one"));
  }
  c.set_output(0, TensorOf(std::move(dataset), deepest + 1, std::move(origin)));
  return absl::OkStatus();
}

absl::Status CheckElement(const Tensors& element, const std::vector<DataType>& types,
                          const std::vector<PartialShape>& shapes) {
  SLUICE_INVALID_IF(element.size() != types.size(),
                    "Number of components does not match: expected ", types.size(),
                    " types but got ", element.size(), ".");
  for (size_t i = 0; i < element.size(); ++i) {
    SLUICE_INVALID_IF(element[i].dtype() != types[i], "Data type mismatch at component ", i,
                      ": expected ", DataTypeName(types[i]), " but got ",
                      DataTypeName(element[i].dtype()), ".");
    SLUICE_INVALID_IF(i < shapes.size() && !shapes[i].IsCompatibleWith(element[i].shape()),
                      "Incompatible shapes at component ", i, ": expected ", shapes[i].ToString(),
                      " but got ", element[i].shape().ToString(), ".");
  }
  return absl::OkStatus();
}

}  // namespace sluice
