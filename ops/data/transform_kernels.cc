// Kernels of datasets that select, combine, split or pass through the elements of other datasets.
#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/iterator_position.h"
#include "ops/data/shuffle.h"
#include "ops/random/distributions.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;
using Facts = DatasetFacts;

// --- facts and options

absl::Status DatasetCardinality(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  c.set_output(0, Tensor::Scalar<int64_t>(input->facts().cardinality));
  return absl::OkStatus();
}

absl::Status GetOptions(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  c.set_output(0, Tensor::Scalar(input->facts().options));
  return absl::OkStatus();
}

// --- selections

// Skips up to `count` elements and decrements `count` for each. Returns false at the end of the
// input.
Next Skip(DatasetIterator& inner, int64_t* count) {
  for (Tensors skipped; *count > 0; --*count) {
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner.Next(&skipped));
    if (!any) return false;
  }
  return true;
}

MadeDataset TakeDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, "count"));
  Facts facts =
      input->facts().Scaled([=](int64_t n) { return count < 0 ? n : std::min(n, count); });
  if (facts.cardinality == Facts::kInfinite) facts.cardinality = std::max<int64_t>(-1, count);
  const auto start = [count](IteratorPointer inner, Reading&) {
    return MakeIterator([inner = std::move(inner), left = count](Tensors* element) mutable -> Next {
      if (left == 0) return false;
      if (left > 0) --left;
      return inner->Next(element);
    });
  };
  return MakeDatasetOver(input, std::move(facts), start, SameElementOf(input));
}

// Returns a function whose element `index` is element `first + index * step` of `input`.
ElementAt StepsOf(const DatasetPointer& input, int64_t first, int64_t step) {
  return [=](int64_t i, Reading& reading) { return input->At(first + i * step, reading); };
}

MadeDataset SkipDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, "count"));
  Facts facts =
      input->facts().Scaled([=](int64_t n) { return count < 0 ? 0 : n - std::min(n, count); });
  const auto start = [count](IteratorPointer inner, Reading&) {
    return MakeIterator(
        [=, inner = std::move(inner), left = count](Tensors* element) mutable -> Next {
          if (count < 0) return false;
          SLUICE_ASSIGN_OR_RETURN(const bool any, Skip(*inner, &left));
          return any ? inner->Next(element) : any;
        });
  };
  return MakeDatasetOver(input, std::move(facts), start, StepsOf(input, count, 1));
}

// Returns a dataset of every `shards`-th element of `input`, from element `index` on.
DatasetPointer Shard(const DatasetPointer& input, int64_t shards, int64_t index) {
  Facts facts =
      input->facts().Scaled([=](int64_t n) { return n / shards + (index < n % shards ? 1 : 0); });
  const auto start = [=](IteratorPointer inner, Reading&) {
    return MakeIterator(
        [=, inner = std::move(inner), left = index](Tensors* element) mutable -> Next {
          SLUICE_ASSIGN_OR_RETURN(const bool any, Skip(*inner, &left));
          left = shards - 1;
          return any ? inner->Next(element) : any;
        });
  };
  return MakeDatasetOver(input, std::move(facts), start, StepsOf(input, index, shards));
}

MadeDataset ShardDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto shards, ScalarInput<int64_t>(c, "num_shards"));
  SLUICE_ASSIGN_OR_RETURN(const auto index, ScalarInput<int64_t>(c, "index"));
  SLUICE_INVALID_IF(shards <= 0,
                    "Number of shards must be greater than zero (currently num_shards = ", shards,
                    ").");
  SLUICE_INVALID_IF(index < 0 || index >= shards, "Index must be between 0 and ", shards - 1,
                    " (currently index = ", index, ").");
  return Shard(input, shards, index);
}

MadeDataset AutoShardDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto workers, ScalarInput<int64_t>(c, "num_workers"));
  SLUICE_ASSIGN_OR_RETURN(const auto index, ScalarInput<int64_t>(c, "index"));
  SLUICE_INVALID_IF(workers < 1, "num_workers must be greater than zero.");
  SLUICE_INVALID_IF(index < 0 || index >= workers, "index must be between 0 and ", workers - 1);
  constexpr int64_t kOff = -1, kHint = 3;
  const auto policy = c.node().AttrOr<int64_t>("auto_shard_policy", 0);
  return policy == kOff || policy == kHint ? input : Shard(input, workers, index);
}

MadeDataset AssertCardinalityDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, "cardinality"));
  const auto start = [count](IteratorPointer inner, Reading&) {
    return MakeIterator([count, inner = std::move(inner),
                         seen = int64_t{0}](Tensors* element) mutable -> Next {
      const auto elements = [](int64_t n) { return StrCat(n, n == 1 ? " element" : " elements"); };
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
      if (any) ++seen;
      const bool too_many = count != Facts::kInfinite && seen > count;
      if (!too_many && (any || seen == count)) return any;
      return absl::FailedPreconditionError(
          StrCat("Input dataset was expected to contain ",
                 count == Facts::kInfinite ? "an infinite number of elements" : elements(count),
                 " but contained ", too_many ? "at least " : "only ", elements(seen), "."));
    });
  };
  return MakeDatasetOver(input, input->facts().WithCardinality(count), start, SameElementOf(input));
}

MadeDataset SamplingDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto rate, ScalarInput<float>(c, "rate"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, "seed2"));
  constexpr bool kReshuffle = false;
  const auto seeds = std::make_shared<ShuffleSeeds>(c.name(), seed, seed2, kReshuffle);
  const auto start = [rate, seeds](IteratorPointer inner, Reading& reading) {
    if (reading.seeds != nullptr) reading.seeds->Use(seeds);
    const auto [first, second] = seeds->Next();
    auto philox = std::make_shared<Philox>(first, second);
    return MakeIterator([rate, philox, &reading, numbers = SingleNumbers(philox.get()),
                         inner = std::move(inner)](Tensors* element) mutable -> Next {
      while (true) {
        SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any || random::ToFloat(numbers()) < rate) return any;
      }
    });
  };
  return MakeDatasetOver(input, input->facts().WithCardinality(Facts::kUnknown), start);
}

MadeDataset IgnoreErrorsDataset(const KernelContext&, const DatasetPointer& input) {
  const auto start = [](IteratorPointer inner, Reading& reading) {
    return MakeIterator([&reading, inner = std::move(inner)](Tensors* element) -> Next {
      while (true) {
        // The input may return the same error again and again.
        SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
        Next next = inner->Next(element);
        if (next.ok() || absl::IsCancelled(next.status())) return next;
      }
    });
  };
  return MakeDatasetOver(input, input->facts().WithCardinality(Facts::kUnknown), start);
}

absl::Status CheckComparable(const std::vector<DataType>& types) {
  SLUICE_INVALID_IF(types.size() != 1,
                    "UniqueDataset only supports inputs with a single component.");
  SLUICE_INVALID_IF(
      types[0] != DT_INT32 && types[0] != DT_INT64 && types[0] != DT_STRING,
      "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
      "component.");
  return absl::OkStatus();
}

// Returns a key. Two tensors of the same type have the same key only if they are equal.
std::string KeyOf(const Tensor& t) {
  std::string key = t.shape().ToString();
  if (t.dtype() != DT_STRING) {
    key.append(static_cast<const char*>(t.raw()),
               static_cast<size_t>(t.num_elements()) * DataTypeSize(t.dtype()));
    return key;
  }
  for (const std::string& s : t.flat<std::string>()) key += StrCat(s.size(), ":", s);
  return key;
}

MadeDataset UniqueDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_RETURN_IF_ERROR(
      CheckComparable(c.node().AttrOr<std::vector<DataType>>("output_types", {})));
  const auto start = [](IteratorPointer inner, Reading&) {
    return MakeIterator([inner = std::move(inner), seen = std::unordered_set<std::string>()](
                            Tensors* element) mutable -> Next {
      while (true) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
        std::vector<DataType> types;
        for (const Tensor& t : *element) types.push_back(t.dtype());
        SLUICE_RETURN_IF_ERROR(CheckComparable(types));
        if (seen.insert(KeyOf((*element)[0])).second) return true;
      }
    });
  };
  return MakeDatasetOver(input, input->facts().WithCardinality(Facts::kUnknown), start);
}

// --- repetitions and combinations

Facts Repeated(Facts facts, int64_t count) {
  if (count < 0 && facts.cardinality != 0) facts.cardinality = Facts::kInfinite;
  if (count == 0) facts.cardinality = 0;
  if (count > 0 && facts.is_finite()) facts.cardinality = Facts::Product(facts.cardinality, count);
  return facts;
}

MadeDataset RepeatDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, "count"));
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([=, &reading, inner = IteratorPointer(), left = count,
                         any_this_time = true](Tensors* element) mutable -> Next {
      while (true) {
        SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
        if (inner == nullptr) {
          // The input is empty, so infinite repetition yields no elements.
          if (left == 0 || !any_this_time) return false;
          if (left > 0) --left;
          SLUICE_ASSIGN_OR_RETURN(inner, input->Iterate(reading));
          any_this_time = count > 0;
        }
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        any_this_time = any_this_time || any;
        if (any) return true;
        inner = nullptr;
      }
    });
  };
  const auto at = [=](int64_t i, Reading& reading) {
    return input->At(i % input->facts().cardinality, reading);
  };
  return MakeDataset(Repeated(input->facts(), count), iterate, at);
}

int64_t SumOfCardinalities(int64_t a, int64_t b) {
  if (a == Facts::kInfinite || b == Facts::kInfinite) return Facts::kInfinite;
  return a == Facts::kUnknown || b == Facts::kUnknown ? Facts::kUnknown : Facts::Sum(a, b);
}

MadeDataset ConcatenateDataset(const KernelContext& c, const DatasetPointer& first) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer second, DatasetIn(c.input(1)));
  Facts facts = first->facts().And(second->facts());
  facts.cardinality = SumOfCardinalities(first->facts().cardinality, second->facts().cardinality);
  const auto start = [second](IteratorPointer inner, Reading& reading) {
    return MakeIterator([second, &reading, inner = std::move(inner),
                         in_first = true](Tensors* element) mutable -> Next {
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
      if (any || !std::exchange(in_first, false)) return any;
      SLUICE_ASSIGN_OR_RETURN(inner, second->Iterate(reading));
      return inner->Next(element);
    });
  };
  const auto at = [=, n = first->facts().cardinality](int64_t i, Reading& reading) {
    return i < n ? first->At(i, reading) : second->At(i - n, reading);
  };
  return MakeDatasetOver(first, std::move(facts), start, at);
}

using Datasets = std::vector<DatasetPointer>;

absl::StatusOr<Datasets> DatasetsFrom(const KernelContext& c, int first) {
  Datasets datasets;
  for (int i = first; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer input, DatasetIn(c.input(i)));
    datasets.push_back(std::move(input));
  }
  return datasets;
}

absl::StatusOr<std::vector<IteratorPointer>> IterateAll(const Datasets& datasets,
                                                        Reading& reading) {
  std::vector<IteratorPointer> iterators;
  for (const DatasetPointer& dataset : datasets) {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer iterator, dataset->Iterate(reading));
    iterators.push_back(std::move(iterator));
  }
  return iterators;
}

// Returns the facts about a Zip, which has as many elements as its shortest input.
Facts ZippedFacts(const Datasets& inputs) {
  Facts facts;
  int64_t cardinality = Facts::kInfinite;
  for (const DatasetPointer& input : inputs) {
    const int64_t n = input->facts().cardinality;
    facts = facts.And(input->facts());
    if (n == Facts::kInfinite || cardinality == Facts::kUnknown) continue;
    cardinality = n == Facts::kUnknown || cardinality < 0 ? n : std::min(n, cardinality);
  }
  return facts.WithCardinality(cardinality);
}

MadeDataset ZipDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Datasets inputs, DatasetsFrom(c, 0));
  const auto iterate = [inputs](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    SLUICE_ASSIGN_OR_RETURN(auto iterators, IterateAll(inputs, reading));
    return MakeIterator([iterators = std::move(iterators)](Tensors* element) -> Next {
      element->clear();
      for (const IteratorPointer& iterator : iterators) {
        Tensors part;
        SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&part));
        if (!any) return false;
        std::move(part.begin(), part.end(), std::back_inserter(*element));
      }
      return !iterators.empty();
    });
  };
  const auto at = [inputs](int64_t i, Reading& reading) -> absl::StatusOr<Tensors> {
    Tensors element;
    for (const DatasetPointer& input : inputs) {
      SLUICE_ASSIGN_OR_RETURN(Tensors part, input->At(i, reading));
      std::move(part.begin(), part.end(), std::back_inserter(element));
    }
    return element;
  };
  return MakeDataset(ZippedFacts(inputs), iterate, at);
}

class DirectedIterator : public DatasetIterator {
 public:
  DirectedIterator(IteratorPointer selector, std::vector<IteratorPointer> inputs, bool stops)
      : selector_(std::move(selector)),
        inputs_(std::move(inputs)),
        left_(inputs_.size()),
        stops_(stops) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (selector_ != nullptr) {
      Tensors selected;
      SLUICE_ASSIGN_OR_RETURN(const bool any_selected, selector_->Next(&selected));
      if (!any_selected) break;
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer * input, InputOf(selected));
      if (*input == nullptr) continue;
      SLUICE_ASSIGN_OR_RETURN(const bool any, (*input)->Next(element));
      if (any) return true;
      *input = nullptr;
      if (stops_ || --left_ == 0) break;
    }
    selector_ = nullptr;
    inputs_.clear();
    return false;
  }

 private:
  absl::StatusOr<IteratorPointer*> InputOf(const Tensors& selected) {
    SLUICE_INVALID_IF(
        selected.size() != 1 || selected[0].dtype() != DT_INT64 || selected[0].rank() != 0,
        "The selector input must be a dataset of scalar int64 elements.");
    const auto i = selected[0].scalar<int64_t>();
    SLUICE_INVALID_IF(i < 0 || i >= static_cast<int64_t>(inputs_.size()),
                      "Selector index out of range: ", i, " >= ", inputs_.size());
    return &inputs_[static_cast<size_t>(i)];
  }

  IteratorPointer selector_;             // null after the end of the input
  std::vector<IteratorPointer> inputs_;  // null for inputs that have ended
  size_t left_;                          // number of inputs that have not ended
  const bool stops_;
};

MadeDataset DirectedInterleaveDataset(const KernelContext& c, const DatasetPointer& selector) {
  SLUICE_ASSIGN_OR_RETURN(const Datasets inputs, DatasetsFrom(c, 1));
  Facts facts = selector->facts().And({});
  bool is_infinite = false;
  for (const DatasetPointer& input : inputs) {
    facts = facts.And(input->facts());
    is_infinite = is_infinite || input->facts().cardinality == Facts::kInfinite;
  }
  if (is_infinite) facts.cardinality = Facts::kInfinite;
  const bool stops = c.node().AttrOr<bool>("stop_on_empty_dataset", false);
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer first, selector->Iterate(reading));
    SLUICE_ASSIGN_OR_RETURN(auto iterators, IterateAll(inputs, reading));
    return std::make_unique<DirectedIterator>(std::move(first), std::move(iterators), stops);
  };
  return MakeDataset(std::move(facts), iterate);
}

KERNEL(AssertCardinalityDataset, DatasetKernel<AssertCardinalityDataset>);
KERNEL(AutoShardDataset, DatasetKernel<AutoShardDataset>);
KERNEL(ConcatenateDataset, DatasetKernel<ConcatenateDataset>);
KERNEL(DatasetCardinality, FunctionKernel<DatasetCardinality>);
KERNEL(DirectedInterleaveDataset, DatasetKernel<DirectedInterleaveDataset>);
KERNEL(ExperimentalAutoShardDataset, DatasetKernel<AutoShardDataset>);
KERNEL(ExperimentalDatasetCardinality, FunctionKernel<DatasetCardinality>);
KERNEL(ExperimentalDirectedInterleaveDataset, DatasetKernel<DirectedInterleaveDataset>);
KERNEL(ExperimentalIgnoreErrorsDataset, DatasetKernel<IgnoreErrorsDataset>);
KERNEL(ExperimentalUniqueDataset, DatasetKernel<UniqueDataset>);
KERNEL(GetOptions, FunctionKernel<GetOptions>);
KERNEL(IgnoreErrorsDataset, DatasetKernel<IgnoreErrorsDataset>);
KERNEL(RepeatDataset, DatasetKernel<RepeatDataset>);
KERNEL(SamplingDataset, DatasetKernel<SamplingDataset>);
KERNEL(ShardDataset, DatasetKernel<ShardDataset>);
KERNEL(SkipDataset, DatasetKernel<SkipDataset>);
KERNEL(TakeDataset, DatasetKernel<TakeDataset>);
KERNEL(UniqueDataset, DatasetKernel<UniqueDataset>);
KERNEL(ZipDataset, DatasetKernel<ZipDataset>);

using MadeDataset = absl::StatusOr<DatasetPointer>;
using Facts = DatasetFacts;

MadeDataset OptionsDataset(const KernelContext& c, const DatasetPointer& input) {
  Facts facts = input->facts();
  facts.options += c.node().AttrOr<std::string>("serialized_options", "");
  const auto iterate = [=](Reading& reading) { return input->Iterate(reading); };
  return MakeDataset(std::move(facts), iterate, SameElementOf(input));
}

MadeDataset PassThrough(const KernelContext&, const DatasetPointer& input) { return input; }

// Checks that input `name` is not negative.
absl::Status ExpectNotNegative(const KernelContext& c, const char* name) {
  SLUICE_ASSIGN_OR_RETURN(const auto value, ScalarInput<int64_t>(c, name));
  SLUICE_INVALID_IF(value < 0, "`", name, "` must be >= 0");
  return absl::OkStatus();
}

MadeDataset MaxIntraOpParallelismDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_RETURN_IF_ERROR(ExpectNotNegative(c, "max_intra_op_parallelism"));
  return input;
}

MadeDataset PrivateThreadPoolDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_RETURN_IF_ERROR(ExpectNotNegative(c, "num_threads"));
  return input;
}

// A resource without threads, so that TensorFlow's graphs run. Datasets use Sluice's own threads.
struct ThreadPoolResource : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data12_GLOBAL__N_118ThreadPoolResourceE";
  std::string DebugString() const override { return "a dataset's thread pool"; }
};

struct ThreadPoolHandleKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<ThreadPoolResource>(
        init, [](const ResourceName&) { return std::make_shared<ThreadPoolResource>(); });
  }
};

KERNEL(ChooseFastestDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalChooseFastestDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalMaxIntraOpParallelismDataset, DatasetKernel<MaxIntraOpParallelismDataset>);
KERNEL(ExperimentalNonSerializableDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalPrivateThreadPoolDataset, DatasetKernel<PrivateThreadPoolDataset>);
KERNEL(ExperimentalThreadPoolDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalThreadPoolHandle, ThreadPoolHandleKernel);
KERNEL(FinalizeDataset, DatasetKernel<PassThrough>);
KERNEL(MaxIntraOpParallelismDataset, DatasetKernel<MaxIntraOpParallelismDataset>);
KERNEL(ModelDataset, DatasetKernel<PassThrough>);
KERNEL(NonSerializableDataset, DatasetKernel<PassThrough>);
KERNEL(OptimizeDataset, DatasetKernel<PassThrough>);
KERNEL(OptimizeDatasetV2, DatasetKernel<PassThrough>);
KERNEL(OptionsDataset, DatasetKernel<OptionsDataset>);
KERNEL(PrivateThreadPoolDataset, DatasetKernel<PrivateThreadPoolDataset>);
KERNEL(RewriteDataset, DatasetKernel<PassThrough>);
KERNEL(ThreadPoolDataset, DatasetKernel<PassThrough>);
KERNEL(ThreadPoolHandle, ThreadPoolHandleKernel);
KERNEL(UnwrapDatasetVariant, DatasetKernel<PassThrough>);
KERNEL(WrapDatasetVariant, DatasetKernel<PassThrough>);

}  // namespace
}  // namespace sluice
