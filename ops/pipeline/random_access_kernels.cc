// Kernels that read the elements of datasets by their index.
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/iterator_position.h"
#include "ops/data/shuffle.h"
#include "ops/pipeline/index_permutation.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;

// Returns the name of the op that made the dataset, for error messages.
std::string OpOf(const Tensor& dataset) {
  const auto& origin = dataset.scalar<Variant>().get<DatasetVariant>()->origin();
  return origin != nullptr ? origin->op : "WindowDataset";
}

absl::Status GetElementAtIndex(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto index, ScalarInput<int64_t>(c, "index"));
  if (!dataset->has_random_access()) {
    return absl::UnimplementedError(
        StrCat("Random access is not implemented for dataset ", OpOf(c.input(0)), "Op::Dataset"));
  }
  if (dataset->facts().cardinality == DatasetFacts::kInfinite) {
    return absl::FailedPreconditionError(
        StrCat("Dataset of type ", OpOf(c.input(0)),
               "Op::Dataset has infinite cardinality, which does not support random access."));
  }
  Reading reading(c.step().cancellation);
  SLUICE_ASSIGN_OR_RETURN(Tensors element, dataset->At(index, reading));
  return SetElement(c, std::move(element));
}

// --- GlobalShuffleDataset

using Checked = std::unordered_set<const DatasetVariant*>;

// Returns FAILED_PRECONDITION with the name of a dataset of the pipeline that cannot be reordered.
// Skips datasets in `checked`, because pipelines can share datasets.
absl::Status CheckReorders(const Tensor& tensor, Checked* checked) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(tensor));
  const auto refused = [](const auto&... text) {
    return absl::FailedPreconditionError(
        StrCat("`global_shuffle` requires all upstream transformations be compatible with random "
               "access. Got: FAILED_PRECONDITION: ",
               text...));
  };
  if (!checked->insert(tensor.scalar<Variant>().get<DatasetVariant>()).second) {
    return absl::OkStatus();
  }
  const std::string op = OpOf(tensor);
  if (!dataset->has_random_access()) return refused(op, " does not support random access.");
  const auto& origin = tensor.scalar<Variant>().get<DatasetVariant>()->origin();
  if (origin == nullptr) return absl::OkStatus();
  if (op == "RepeatDataset" && dataset->facts().cardinality == DatasetFacts::kInfinite) {
    return refused("`repeat(-1)` does not support random access of tf.data datasets.");
  }
  if (op.starts_with("BatchDataset") &&
      (origin->inputs.size() < 3 || !*origin->inputs[2].data<bool>())) {
    return refused(op, " does not support global shuffling with `drop_remainder=False`.");
  }
  for (const Tensor& input : origin->inputs) {
    if (DatasetIn(input).ok()) SLUICE_RETURN_IF_ERROR(CheckReorders(input, checked));
  }
  return absl::OkStatus();
}

IteratorPointer IterateShuffled(const DatasetPointer& input,
                                const std::shared_ptr<ShuffleSeeds>& seeds, Reading& reading) {
  if (reading.seeds != nullptr) reading.seeds->Use(seeds);
  const auto first = seeds->Next(), second = seeds->Next();
  const int64_t size = input->facts().cardinality;
  const IndexPermutation permutation(
      static_cast<uint64_t>(size),
      {static_cast<uint32_t>(first.first), static_cast<uint32_t>(first.second),
       static_cast<uint32_t>(second.first)});
  return MakeIterator(
      [input, permutation, size, &reading, taken = int64_t{0}](Tensors* element) mutable -> Next {
        SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
        if (taken == size) return false;
        const auto index = static_cast<int64_t>(permutation(static_cast<uint64_t>(taken++)));
        SLUICE_ASSIGN_OR_RETURN(*element, input->At(index, reading));
        return true;
      });
}

MadeDataset GlobalShuffleDataset(const KernelContext& c, const DatasetPointer& input) {
  Checked checked;
  SLUICE_RETURN_IF_ERROR(CheckReorders(c.input(0), &checked));
  const int64_t size = input->facts().cardinality;
  SLUICE_INVALID_IF(size <= 0,
                    "`global_shuffle` requires the input dataset to have a non-empty finite "
                    "cardinality. Got cardinality ",
                    size, " for dataset ", OpOf(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto seeds, SeedsFromInputs(c, "reshuffle_each_iteration"));
  return MakeDataset(input->facts(), [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return IterateShuffled(input, seeds, reading);
  });
}

// --- IndexFlatMapDataset

// The position of a row in the flattened dataset.
struct RowPlace {
  int64_t element = 0;  // index of the element in the input
  int64_t row = 0;      // row of what `map_func` returns for the element
};

absl::StatusOr<int64_t> IndexIn(const Tensor& t) {
  if (t.num_elements() == 1 && t.dtype() == DT_INT64) return *t.data<int64_t>();
  if (t.num_elements() == 1 && t.dtype() == DT_INT32) return *t.data<int32_t>();
  return InvalidArgument(
      "The `index_map_func` for `index_flat_map` is expected to return two int32/int64 values "
      "representing the element index and an offset within the element. Got: ",
      DataTypeName(t.dtype()), " of shape ", t.shape().ToString());
}

absl::StatusOr<RowPlace> PlaceOf(const Closure& index_map, int64_t index, Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors place, index_map({Tensor::Scalar(index)}, reading));
  SLUICE_INVALID_IF(place.size() != 2,
                    "The `index_map_fn` for `index_flat_map` is expected to return two int values "
                    "representing the element index and an offset within the element. Got: ",
                    place.size(), " values");
  SLUICE_ASSIGN_OR_RETURN(const int64_t element, IndexIn(place[0]));
  SLUICE_ASSIGN_OR_RETURN(const int64_t row, IndexIn(place[1]));
  return RowPlace{element, row};
}

// Returns row `row` of each component. Scalars stay as they are.
absl::StatusOr<Tensors> RowOf(const Tensors& components, int64_t row) {
  Tensors rows;
  for (const Tensor& t : components) {
    if (t.rank() == 0) {
      rows.push_back(t);
      continue;
    }
    SLUICE_INVALID_IF(row < 0 || row >= t.dim(0),
                      "`index_flat_map` got invalid `index_map_func` which returns offset ", row,
                      ", but the input element has ", t.dim(0), " elements: shape ",
                      t.shape().ToString());
    TensorShape shape = t.shape();
    shape.RemoveDim(0);
    SLUICE_ASSIGN_OR_RETURN(Tensor copy, t.SliceRows(row, row + 1).Reshaped(shape).Clone());
    rows.push_back(std::move(copy));
  }
  return rows;
}

// Reads the input in order. So `index_map_func` must return positions in this order, too.
class IndexFlatMapIterator : public DatasetIterator {
 public:
  IndexFlatMapIterator(IteratorPointer inner, Closure map, Closure index_map, Reading& reading)
      : inner_(std::move(inner)),
        map_(std::move(map)),
        index_map_(std::move(index_map)),
        reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    SLUICE_ASSIGN_OR_RETURN(const RowPlace place, PlaceOf(index_map_, taken_, reading_));
    if (mapped_.empty() || place.element > element_) {
      mapped_.clear();
      Tensors taken;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
      if (!any) return false;
      SLUICE_ASSIGN_OR_RETURN(mapped_, map_(taken, reading_));
      element_ = place.element;
    }
    SLUICE_ASSIGN_OR_RETURN(*element, RowOf(mapped_, place.row));
    ++taken_;
    return true;
  }

 private:
  const IteratorPointer inner_;
  const Closure map_, index_map_;
  Reading& reading_;
  int64_t taken_ = 0;    // number of rows that were returned
  int64_t element_ = 0;  // index of the element from which mapped_ was computed
  Tensors mapped_;       // empty before the first element
};

MadeDataset IndexFlatMapDataset(const KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto cardinality, ScalarInput<int64_t>(c, "output_cardinality"));
  const Closure map = functions[0], index_map = functions[1];
  const auto start = [=](IteratorPointer inner, Reading& reading) {
    return std::make_unique<IndexFlatMapIterator>(std::move(inner), map, index_map, reading);
  };
  const auto at = [=](int64_t index, Reading& reading) -> absl::StatusOr<Tensors> {
    SLUICE_ASSIGN_OR_RETURN(const RowPlace place, PlaceOf(index_map, index, reading));
    SLUICE_ASSIGN_OR_RETURN(const Tensors element, input->At(place.element, reading));
    SLUICE_ASSIGN_OR_RETURN(const Tensors mapped, map(element, reading));
    return RowOf(mapped, place.row);
  };
  DatasetFacts facts = input->facts().OfOtherElements();
  facts.cardinality = std::max<int64_t>(cardinality, DatasetFacts::kUnknown);
  return MakeDatasetOver(input, std::move(facts), start, at);
}

// --- WeightedFlatMapDataset

absl::StatusOr<std::vector<double>> WeightsOf(const KernelContext& c, size_t inputs) {
  std::vector<double> weights;
  const auto first = static_cast<int>(inputs);
  SLUICE_INVALID_IF(c.num_inputs() != 2 * first,
                    "`input_datasets` and `weights` of the WeightedFlatMap must have the same "
                    "size. Got ",
                    inputs, " datasets and ", c.num_inputs() - first, " weights.");
  for (int i = first; i < c.num_inputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(i), 0, "`weights` must be scalars, got "));
    const auto weight = c.input(i).scalar<double>();
    SLUICE_INVALID_IF(!std::isfinite(weight) || weight <= 0,
                      "`weights` must be greater than 0.0. Input ", i - first, " has a weight of ",
                      weight);
    weights.push_back(weight);
  }
  return weights;
}

// Returns the number of elements to take from each dataset. The numbers are proportional to the
// weights, and as large as the datasets allow. Rounds as TensorFlow does.
std::vector<int64_t> CountsFor(const std::vector<int64_t>& sizes,
                               const std::vector<double>& weights) {
  const double heaviest = *std::max_element(weights.begin(), weights.end());
  size_t shortest = 0;
  double least = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double scaled = static_cast<double>(sizes[i]) * weights[i] / heaviest;
    if (i == 0 || scaled < least) {
      shortest = i;
      least = scaled;
    }
  }
  std::vector<int64_t> counts;
  for (const double weight : weights) {
    counts.push_back(static_cast<int64_t>(least * weight / weights[shortest]));
  }
  return counts;
}

absl::StatusOr<std::vector<int64_t>> SizesOf(const std::vector<DatasetPointer>& inputs) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t size = inputs[i]->facts().cardinality;
    SLUICE_INVALID_IF(size < 0, "Cardinalities of the inputs must be known. Input ", i, " has ",
                      size == DatasetFacts::kInfinite ? "INFINITE" : "UNKNOWN", " cardinality.");
    sizes.push_back(size);
  }
  return sizes;
}

MadeDataset WeightedFlatMapDataset(const KernelContext& c) {
  const auto n = static_cast<int>(c.node().AttrOr<int64_t>("N", 2));
  std::vector<DatasetPointer> inputs;
  DatasetFacts facts{.cardinality = 0};
  for (int i = 0; i < n; ++i) {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer input, DatasetIn(c.input(i)));
    facts.options += input->facts().options;
    inputs.push_back(std::move(input));
  }
  SLUICE_ASSIGN_OR_RETURN(const auto weights, WeightsOf(c, inputs.size()));
  SLUICE_ASSIGN_OR_RETURN(const auto sizes, SizesOf(inputs));
  const std::vector<int64_t> counts = CountsFor(sizes, weights);
  for (size_t i = 0; i < counts.size(); ++i) {
    SLUICE_INVALID_IF(counts[i] > sizes[i], "Input ", i, " needs to have at least ", counts[i],
                      " elements. It only has ", sizes[i], " elements.");
    facts.cardinality = DatasetFacts::Sum(facts.cardinality, counts[i]);
    if (facts.cardinality < 0) break;
  }
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([=, &reading, at = size_t{0}, taken = int64_t{0},
                         inner = IteratorPointer()](Tensors* element) mutable -> Next {
      for (; at < inputs.size(); ++at, taken = 0, inner = nullptr) {
        if (taken == counts[at]) continue;
        if (inner == nullptr) {
          SLUICE_ASSIGN_OR_RETURN(inner, inputs[at]->Iterate(reading));
        }
        ++taken;
        return inner->Next(element);
      }
      return false;
    });
  };
  return MakeDataset(std::move(facts), iterate);
}

KERNEL(GetElementAtIndex, FunctionKernel<GetElementAtIndex>);
KERNEL(GlobalShuffleDataset, DatasetKernel<GlobalShuffleDataset>);
KERNEL(IndexFlatMapDataset, FunctionDatasetKernel<IndexFlatMapDataset>);
KERNEL(WeightedFlatMapDataset, DatasetKernel<WeightedFlatMapDataset>);

}  // namespace
}  // namespace sluice
