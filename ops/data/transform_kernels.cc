// Datasets of the elements of another one.
#include <algorithm>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/state/tuple_rows.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;

// A dataset whose iterators read those of the input of a kernel: `wrap(iterator)` is a function
// that gives the next element. `facts` says what is known of it, given the input's facts.
template <typename F, typename W>
absl::Status Wrap(KernelContext& c, F facts, W wrap) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const auto iterate = [input, wrap](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer iterator, input->Iterate(reading));
    return MakeIterator(wrap(std::shared_ptr<DatasetIterator>(std::move(iterator))));
  };
  c.set_output(0, TensorOf(MakeDataset(facts(input->facts()), iterate)));
  return absl::OkStatus();
}

using Inner = std::shared_ptr<DatasetIterator>;
using Facts = DatasetFacts;

absl::Status OptionsDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  Facts facts = input->facts();
  facts.options += c.node().AttrOr<std::string>("serialized_options", "");
  c.set_output(0, TensorOf(MakeDataset(std::move(facts),
                                       [=](Reading& reading) { return input->Iterate(reading); })));
  return absl::OkStatus();
}

absl::Status AsItIs(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(DatasetIn(c.input(0)).status());
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status TakeDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, 1, "count"));
  const auto facts = [=](const Facts& in) {
    if (in.cardinality == Facts::kInfinite) return in.WithCardinality(std::max<int64_t>(-1, count));
    return in.Scaled([=](int64_t n) { return count < 0 ? n : std::min(n, count); });
  };
  return Wrap(c, facts, [count](Inner inner) {
    return [inner, left = count](Tensors* element) mutable -> Next {
      if (left == 0) return false;
      if (left > 0) --left;
      return inner->Next(element);
    };
  });
}

absl::Status SkipDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, 1, "count"));
  const auto facts = [=](const Facts& in) {
    return in.Scaled([=](int64_t n) { return count < 0 ? 0 : n - std::min(n, count); });
  };
  return Wrap(c, facts, [count](Inner inner) {
    return [inner, count, left = count](Tensors* element) mutable -> Next {
      if (count < 0) return false;
      for (; left > 0; --left) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
      }
      return inner->Next(element);
    };
  });
}

absl::Status ShardDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto shards, ScalarInput<int64_t>(c, 1, "num_shards"));
  SLUICE_ASSIGN_OR_RETURN(const auto index, ScalarInput<int64_t>(c, 2, "index"));
  if (shards <= 0) {
    return InvalidArgument(
        "Number of shards must be greater than zero (currently num_shards = ", shards, ").");
  }
  if (index < 0 || index >= shards) {
    return InvalidArgument("Index must be between 0 and ", shards - 1,
                           " (currently index = ", index, ").");
  }
  const auto facts = [=](const Facts& in) {
    return in.Scaled([=](int64_t n) { return n / shards + (index < n % shards ? 1 : 0); });
  };
  return Wrap(c, facts, [=](Inner inner) {
    return [=, skip = index](Tensors* element) mutable -> Next {
      for (; skip > 0; --skip) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
      }
      skip = shards - 1;
      return inner->Next(element);
    };
  });
}

absl::Status IgnoreErrorsDataset(KernelContext& c) {
  const auto facts = [](const Facts& in) { return in.WithCardinality(Facts::kUnknown); };
  return Wrap(c, facts, [](Inner inner) {
    return [inner](Tensors* element) -> Next {
      while (true) {
        const Next next = inner->Next(element);
        if (next.ok() || absl::IsCancelled(next.status())) return next;
      }
    };
  });
}

absl::Status UnbatchDataset(KernelContext& c) {
  const auto facts = [](const Facts& in) {
    return in
        .Scaled(
            [&](int64_t n) { return in.rows < 0 ? Facts::kUnknown : Facts::Product(n, in.rows); })
        .OfOtherElements();
  };
  return Wrap(c, facts, [](Inner inner) {
    return [inner, rows = std::vector<Tensors>()](Tensors* element) mutable -> Next {
      while (rows.empty()) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
        for (const Tensor& t : *element) {
          if (t.rank() > 0 && t.dim(0) == (*element)[0].dim(0)) continue;
          return InvalidArgument("Input element must have the same batch size in each component.");
        }
        SLUICE_ASSIGN_OR_RETURN(rows, SplitRows(Heap(), *element));
        std::reverse(rows.begin(), rows.end());
      }
      *element = std::move(rows.back());
      rows.pop_back();
      return true;
    };
  });
}

// --- again, and one after the other

absl::Status RepeatDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto count, ScalarInput<int64_t>(c, 1, "count"));
  const auto iterate = [=](Reading& reading) -> Iterating {
    return MakeIterator([=, &reading, inner = Inner(), left = count,
                         any_this_time = true](Tensors* element) mutable -> Next {
      while (true) {
        SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
        if (inner == nullptr) {
          // An empty dataset for ever is an empty one.
          if (left == 0 || !any_this_time) return false;
          if (left > 0) --left;
          SLUICE_ASSIGN_OR_RETURN(IteratorPointer next, input->Iterate(reading));
          inner = std::move(next);
          any_this_time = count > 0;
        }
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        any_this_time = any_this_time || any;
        if (any) return true;
        inner = nullptr;
      }
    });
  };
  Facts facts = input->facts();
  if (count < 0 && facts.cardinality != 0) facts.cardinality = Facts::kInfinite;
  if (count == 0) facts.cardinality = 0;
  if (count > 0 && facts.is_finite()) facts.cardinality = Facts::Product(facts.cardinality, count);
  c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
  return absl::OkStatus();
}

// Of the one and then the other.
int64_t SumOfCardinalities(int64_t a, int64_t b) {
  if (a == Facts::kInfinite || b == Facts::kInfinite) return Facts::kInfinite;
  return a == Facts::kUnknown || b == Facts::kUnknown ? Facts::kUnknown : Facts::Sum(a, b);
}

absl::Status ConcatenateDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer first, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer second, DatasetIn(c.input(1)));
  const auto iterate = [=](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, first->Iterate(reading));
    return MakeIterator([=, &reading, inner = Inner(std::move(start)),
                         in_first = true](Tensors* element) mutable -> Next {
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
      if (any || !std::exchange(in_first, false)) return any;
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer rest, second->Iterate(reading));
      inner = std::move(rest);
      return inner->Next(element);
    });
  };
  Facts facts = first->facts().And(second->facts());
  facts.cardinality = SumOfCardinalities(first->facts().cardinality, second->facts().cardinality);
  c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
  return absl::OkStatus();
}

// The shortest of all.
Facts ZippedFacts(const std::vector<DatasetPointer>& inputs) {
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

absl::Status ZipDataset(KernelContext& c) {
  std::vector<DatasetPointer> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer input, DatasetIn(c.input(i)));
    inputs.push_back(std::move(input));
  }
  const auto iterate = [inputs](Reading& reading) -> Iterating {
    std::vector<Inner> iterators;
    for (const DatasetPointer& input : inputs) {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer iterator, input->Iterate(reading));
      iterators.push_back(std::move(iterator));
    }
    return MakeIterator([iterators](Tensors* element) -> Next {
      element->clear();
      for (const Inner& iterator : iterators) {
        Tensors part;
        SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&part));
        if (!any) return false;
        std::move(part.begin(), part.end(), std::back_inserter(*element));
      }
      return !iterators.empty();
    });
  };
  c.set_output(0, TensorOf(MakeDataset(ZippedFacts(inputs), iterate)));
  return absl::OkStatus();
}

// --- batches

// Up to `size` elements; fewer at the end.
absl::StatusOr<std::vector<Tensors>> TakeRows(DatasetIterator& iterator, int64_t size) {
  std::vector<Tensors> rows;
  while (static_cast<int64_t>(rows.size()) < size) {
    Tensors element;
    SLUICE_ASSIGN_OR_RETURN(const bool any, iterator.Next(&element));
    if (!any) break;
    rows.push_back(std::move(element));
  }
  return rows;
}

// Of the kernels whose inputs are a batch size and, somewhere, whether the last one is left out.
absl::StatusOr<int64_t> BatchSize(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto size, ScalarInput<int64_t>(c, 1, "batch_size"));
  if (size <= 0) return InvalidArgument("Batch size must be greater than zero.");
  return size;
}

template <int kDropRemainderInput>
absl::Status BatchDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, BatchSize(c));
  bool drop = false;
  if (kDropRemainderInput > 0) {
    SLUICE_ASSIGN_OR_RETURN(drop, ScalarInput<bool>(c, kDropRemainderInput, "drop_remainder"));
  }
  const auto facts = [=](const Facts& in) { return BatchedFacts(in, size, drop); };
  return Wrap(c, facts, [=](Inner inner) {
    return [=](Tensors* element) -> Next {
      SLUICE_ASSIGN_OR_RETURN(std::vector<Tensors> rows, TakeRows(*inner, size));
      if (rows.empty() || (drop && static_cast<int64_t>(rows.size()) < size)) return false;
      SLUICE_ASSIGN_OR_RETURN(*element, BatchOf(rows));
      return true;
    };
  });
}

// Component `i` of all rows in one tensor of the largest (or the asked for) size.
template <typename T>
void FillPadded(const std::vector<Tensors>& rows, size_t i, const Tensor& padding, Tensor* batch) {
  std::fill_n(batch->data<T>(), batch->num_elements(), padding.scalar<T>());
  if (batch->num_elements() == 0) return;
  const int64_t row_size = batch->num_elements() / batch->dim(0);
  for (size_t r = 0; r < rows.size(); ++r) {
    const Tensor& row = rows[r][i];
    std::vector<int64_t> index(static_cast<size_t>(row.rank()));
    for (int64_t k = 0; k < row.num_elements(); ++k) {
      int64_t at = 0;
      for (int d = 0; d < row.rank(); ++d) at = at * batch->dim(d + 1) + index[d];
      batch->data<T>()[static_cast<int64_t>(r) * row_size + at] = row.data<T>()[k];
      for (int d = row.rank() - 1; d >= 0 && ++index[d] == row.dim(d); --d) index[d] = 0;
    }
  }
}

template <typename... Ts>
void FillAs(TypeList<Ts...>, const std::vector<Tensors>& rows, size_t i, const Tensor& padding,
            Tensor* batch) {
  ((batch->dtype() == kDataTypeOf<Ts> ? FillPadded<Ts>(rows, i, padding, batch) : void()), ...);
}

struct Padding {
  std::vector<std::vector<int64_t>> shapes;  // -1: the largest of the batch
  Tensors values;
};

absl::StatusOr<Tensor> PadComponent(const std::vector<Tensors>& rows, size_t i,
                                    const Padding& padding) {
  const std::vector<int64_t>& wanted = padding.shapes[i];
  if (rows[0][i].dtype() != padding.values[i].dtype()) {
    return InvalidArgument(
        "Mismatched type between padding value ", i, " and input dataset's component ", i, ": ",
        DataTypeName(padding.values[i].dtype()), " vs. ", DataTypeName(rows[0][i].dtype()));
  }
  for (const Tensors& row : rows) {
    if (row[i].rank() == static_cast<int>(wanted.size())) continue;
    return InvalidArgument(
        "All elements in a batch must have the same rank as the padded "
        "shape for component",
        i, ": expected rank ", wanted.size(), " but got element with rank ", row[i].rank());
  }
  std::vector<int64_t> sizes = {static_cast<int64_t>(rows.size())};
  for (size_t d = 0; d < wanted.size(); ++d) {
    int64_t largest = wanted[d] < 0 ? 0 : wanted[d];
    for (const Tensors& row : rows) {
      const int64_t size = row[i].dim(static_cast<int>(d));
      if (wanted[d] >= 0 && size > wanted[d]) {
        return absl::DataLossError(
            StrCat("Attempted to pad to a smaller size than the input "
                   "element: dimension ",
                   d, " of component ", i, " has size ", size, ", wanted ", wanted[d]));
      }
      largest = std::max(largest, size);
    }
    sizes.push_back(largest);
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
  SLUICE_ASSIGN_OR_RETURN(Tensor batch, Tensor::Allocate(Heap(), rows[0][i].dtype(), shape));
  FillAs(AllList(), rows, i, padding.values[i], &batch);
  return batch;
}

absl::Status PaddedBatchDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, BatchSize(c));
  const auto types = c.node().AttrOr<std::vector<DataType>>("Toutput_types", {});
  const int components = static_cast<int>(types.size());
  const auto shapes = c.node().AttrOr<int64_t>("N", 0);
  if (shapes != components) {
    return InvalidArgument(
        "Number of padded shapes (", shapes,
        ") must match the number of components in the input dataset's elements (", components, ")");
  }
  Padding padding;
  for (int i = 0; i < components; ++i) {
    const Tensor& shape = c.input(2 + i);
    const Tensor& value = c.input(2 + components + i);
    if (shape.rank() != 1) return InvalidArgument("All padded shapes must be vectors");
    if (value.rank() != 0) return InvalidArgument("All padding values must be scalars");
    const auto sizes = shape.flat<int64_t>();
    padding.shapes.emplace_back(sizes.begin(), sizes.end());
    padding.values.push_back(value);
  }
  bool drop = false;
  if (c.num_inputs() > 2 + 2 * components) {
    SLUICE_ASSIGN_OR_RETURN(drop, ScalarInput<bool>(c, 2 + 2 * components, "drop_remainder"));
  }
  const auto facts = [=](const Facts& in) { return BatchedFacts(in, size, drop); };
  return Wrap(c, facts, [=](Inner inner) {
    return [=](Tensors* element) -> Next {
      SLUICE_ASSIGN_OR_RETURN(const std::vector<Tensors> rows, TakeRows(*inner, size));
      if (rows.empty() || (drop && static_cast<int64_t>(rows.size()) < size)) return false;
      SLUICE_RETURN_IF_ERROR(CheckSameTypes(rows));
      element->clear();
      for (size_t i = 0; i < rows[0].size() && i < padding.shapes.size(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(Tensor batch, PadComponent(rows, i, padding));
        element->push_back(std::move(batch));
      }
      return true;
    };
  });
}

template <int kInput>
using BatchKernel = FunctionKernel<BatchDataset<kInput>>;
using BatchV1 = BatchKernel<0>;
using BatchV2 = BatchKernel<2>;
using ParallelBatch = BatchKernel<3>;

KERNEL(BatchDataset, BatchV1);
KERNEL(BatchDatasetV2, BatchV2);
KERNEL(ConcatenateDataset, FunctionKernel<ConcatenateDataset>);
KERNEL(FinalizeDataset, FunctionKernel<AsItIs>);
KERNEL(IgnoreErrorsDataset, FunctionKernel<IgnoreErrorsDataset>);
KERNEL(ModelDataset, FunctionKernel<AsItIs>);
KERNEL(OptimizeDataset, FunctionKernel<AsItIs>);
KERNEL(OptionsDataset, FunctionKernel<OptionsDataset>);
KERNEL(PaddedBatchDataset, FunctionKernel<PaddedBatchDataset>);
KERNEL(PaddedBatchDatasetV2, FunctionKernel<PaddedBatchDataset>);
KERNEL(ParallelBatchDataset, ParallelBatch);
KERNEL(RepeatDataset, FunctionKernel<RepeatDataset>);
KERNEL(ShardDataset, FunctionKernel<ShardDataset>);
KERNEL(SkipDataset, FunctionKernel<SkipDataset>);
KERNEL(TakeDataset, FunctionKernel<TakeDataset>);
KERNEL(UnbatchDataset, FunctionKernel<UnbatchDataset>);
KERNEL(ZipDataset, FunctionKernel<ZipDataset>);

}  // namespace
}  // namespace sluice
