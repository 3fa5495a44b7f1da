// Datasets that stack elements into batches, and datasets that split batches.
#include <algorithm>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "graph/tensor/sizes.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;
using Facts = DatasetFacts;

// --- batches

absl::StatusOr<BatchSpec> BatchSpecOf(const KernelContext& c) {
  BatchSpec spec;
  SLUICE_ASSIGN_OR_RETURN(spec.size, ScalarInput<int64_t>(c, "batch_size"));
  SLUICE_INVALID_IF(spec.size <= 0, "Batch size must be greater than zero.");
  if (!HasInput(c, "drop_remainder")) return spec;
  SLUICE_ASSIGN_OR_RETURN(spec.drop_remainder, ScalarInput<bool>(c, "drop_remainder"));
  return spec;
}

// Takes the elements of the next batch from `iterator`. Returns none at its end.
absl::StatusOr<std::vector<Tensors>> TakeRows(DatasetIterator& iterator, const BatchSpec& spec) {
  std::vector<Tensors> rows;
  for (Tensors row; static_cast<int64_t>(rows.size()) < spec.size;) {
    SLUICE_ASSIGN_OR_RETURN(const bool any, iterator.Next(&row));
    if (!any) break;
    rows.push_back(std::move(row));
  }
  if (spec.Drops(rows)) rows.clear();
  return rows;
}

// Returns a dataset of the batches that `stack(rows)` returns.
template <typename F>
DatasetPointer MakeBatches(const DatasetPointer& input, const BatchSpec& spec, F stack,
                           ElementAt at = nullptr) {
  const auto start = [=](IteratorPointer inner, Reading&) {
    return MakeIterator([=, inner = std::move(inner)](Tensors* element) -> Next {
      SLUICE_ASSIGN_OR_RETURN(const std::vector<Tensors> rows, TakeRows(*inner, spec));
      if (rows.empty()) return false;
      SLUICE_ASSIGN_OR_RETURN(*element, stack(rows));
      return true;
    });
  };
  return MakeDatasetOver(input, BatchedFacts(input->facts(), spec), start, std::move(at));
}

MadeDataset BatchDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const BatchSpec spec, BatchSpecOf(c));
  const auto at = [=](int64_t batch, Reading& reading) -> absl::StatusOr<Tensors> {
    const int64_t first = batch * spec.size;
    const int64_t count = std::min(spec.size, input->facts().cardinality - first);
    std::vector<Tensors> rows;
    for (int64_t i = 0; i < count; ++i) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      SLUICE_ASSIGN_OR_RETURN(Tensors row, input->At(first + i, reading));
      rows.push_back(std::move(row));
    }
    return BatchOf(rows);
  };
  return MakeBatches(input, spec, BatchOf, at);
}

// --- padded batches

struct Padding {
  std::vector<std::vector<int64_t>> shapes;  // -1 stands for the largest size in the batch
  Tensors values;
};

absl::StatusOr<Tensor> PadComponent(const std::vector<Tensors>& rows, size_t i,
                                    const Padding& padding) {
  const std::vector<int64_t>& wanted = padding.shapes[i];
  SLUICE_INVALID_IF(rows[0][i].dtype() != padding.values[i].dtype(),
                    "Mismatched type between padding value ", i, " and input dataset's component ",
                    i, ": ", DataTypeName(padding.values[i].dtype()), " vs. ",
                    DataTypeName(rows[0][i].dtype()));
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
                   d, " of component ", i, " has size ", size, ", expected at most ", wanted[d]));
      }
      largest = std::max(largest, size);
    }
    sizes.push_back(largest);
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
  SLUICE_ASSIGN_OR_RETURN(Tensor batch, Tensor::Allocate(LimitedHeap(), rows[0][i].dtype(), shape));
  FillElements(padding.values[i], &batch, 0, batch.num_elements());
  const int64_t row_size = batch.num_elements() / shape.dim(0);
  for (size_t r = 0; r < rows.size(); ++r) {
    CopyCorner(rows[r][i], shape.dims().subspan(1), &batch, static_cast<int64_t>(r) * row_size);
  }
  return batch;
}

absl::StatusOr<Padding> PaddingOf(const KernelContext& c) {
  const auto components =
      static_cast<int>(c.node().AttrOr<std::vector<DataType>>("Toutput_types", {}).size());
  const auto shapes = c.node().AttrOr<int64_t>("N", 0);
  SLUICE_INVALID_IF(shapes != components, "Number of padded shapes (", shapes,
                    ") must match the number of components in the input dataset's elements (",
                    components, ")");
  Padding padding;
  for (int i = 0; i < components; ++i) {
    const Tensor& shape = c.input(2 + i);
    const Tensor& value = c.input(2 + components + i);
    SLUICE_INVALID_IF(shape.rank() != 1, "All padded shapes must be vectors");
    SLUICE_INVALID_IF(value.rank() != 0, "All padding values must be scalars");
    const auto sizes = shape.flat<int64_t>();
    padding.shapes.emplace_back(sizes.begin(), sizes.end());
    padding.values.push_back(value);
  }
  return padding;
}

MadeDataset PaddedBatchDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const BatchSpec spec, BatchSpecOf(c));
  SLUICE_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(c));
  const auto stack = [padding](const std::vector<Tensors>& rows) -> absl::StatusOr<Tensors> {
    SLUICE_RETURN_IF_ERROR(CheckSameTypes(rows));
    Tensors batch;
    for (size_t i = 0; i < rows[0].size() && i < padding.shapes.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(Tensor component, PadComponent(rows, i, padding));
      batch.push_back(std::move(component));
    }
    return batch;
  };
  return MakeBatches(input, spec, stack);
}

// --- parts of batches

MadeDataset UnbatchDataset(const KernelContext&, const DatasetPointer& input) {
  const Facts& in = input->facts();
  Facts facts = in.Scaled([&](int64_t n) {
                    return in.rows < 0 ? Facts::kUnknown : Facts::Product(n, in.rows);
                  }).OfOtherElements();
  const auto start = [](IteratorPointer inner, Reading&) {
    return MakeIterator([inner = std::move(inner),
                         rows = std::vector<Tensors>()](Tensors* element) mutable -> Next {
      while (rows.empty()) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
        for (const Tensor& t : *element) {
          if (t.rank() > 0 && t.dim(0) == (*element)[0].dim(0)) continue;
          return InvalidArgument("Input element must have the same batch size in each component.");
        }
        SLUICE_ASSIGN_OR_RETURN(rows, SplitRows(LimitedHeap(), *element));
        std::reverse(rows.begin(), rows.end());
      }
      *element = std::move(rows.back());
      rows.pop_back();
      return true;
    });
  };
  return MakeDatasetOver(input, std::move(facts), start);
}

// Returns part number `part` of the `parts` parts into which the rows of each component are
// divided.
absl::StatusOr<Tensors> PartOf(const Tensors& batch, int64_t part, int64_t parts) {
  Tensors result;
  for (const Tensor& t : batch) {
    const int64_t rows = t.dim(0), size = rows / parts + (rows % parts == 0 ? 0 : 1);
    const int64_t first = std::min(rows, SaturatedProduct(part, size));
    const int64_t last = std::min(rows, SaturatedSum(first, size));
    SLUICE_ASSIGN_OR_RETURN(Tensor slice, t.SliceRows(first, last).Clone(LimitedHeap()));
    result.push_back(std::move(slice));
  }
  return result;
}

absl::Status CheckHasRows(const Tensors& batch) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].rank() > 0) continue;
    return InvalidArgument(
        "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your "
        "input dataset is not batched? Component ",
        i, " is scalar.");
  }
  return absl::OkStatus();
}

MadeDataset RebatchDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto parts, ScalarInput<int64_t>(c, "num_replicas"));
  SLUICE_INVALID_IF(parts <= 0, "num_replicas must be greater than zero.");
  const auto start = [=](IteratorPointer inner, Reading& reading) {
    return MakeIterator([parts, &reading, inner = std::move(inner), part = int64_t{0},
                         batch = Tensors()](Tensors* element) mutable -> Next {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      if (part == 0) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&batch));
        if (!any) return false;
        SLUICE_RETURN_IF_ERROR(CheckHasRows(batch));
      }
      SLUICE_ASSIGN_OR_RETURN(*element, PartOf(batch, part, parts));
      part = (part + 1) % parts;
      return true;
    });
  };
  return MakeDatasetOver(input, {.options = input->facts().options}, start);
}

// Concatenates batches into one.
absl::StatusOr<Tensors> ConcatenateRows(const std::vector<Tensors>& parts) {
  if (parts.size() == 1) return parts[0];
  SLUICE_RETURN_IF_ERROR(CheckSameTypes(parts));
  Tensors joined;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    TensorShape shape = parts[0][i].shape();
    int64_t rows = 0;
    for (const Tensors& part : parts) {
      rows += part[i].dim(0);
      TensorShape same = part[i].shape();
      same.set_dim(0, shape.dim(0));
      SLUICE_INVALID_IF(same != shape, "Cannot rebatch tensors with different shapes in component ",
                        i, ": ", shape.ToString(), " and ", part[i].shape().ToString(), ".");
    }
    shape.set_dim(0, rows);
    SLUICE_ASSIGN_OR_RETURN(Tensor all,
                            Tensor::Allocate(LimitedHeap(), parts[0][i].dtype(), shape));
    int64_t at = 0;
    for (const Tensors& part : parts) {
      CopyElements(part[i], 0, part[i].num_elements(), &all, at);
      at += part[i].num_elements();
    }
    joined.push_back(std::move(all));
  }
  return joined;
}

// Cuts the rows of its input into batches of given sizes.
class RebatchIterator : public DatasetIterator {
 public:
  RebatchIterator(IteratorPointer inner, std::vector<int64_t> sizes, bool drop_remainder,
                  Reading& reading)
      : inner_(std::move(inner)),
        sizes_(std::move(sizes)),
        drop_remainder_(drop_remainder),
        reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    // Batches of size 0 take nothing from the input, so there may be infinitely many.
    SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
    const int64_t size = sizes_[turn_];
    std::vector<Tensors> parts;
    int64_t left = size;
    while (left > 0 || parts.empty()) {
      if (left > 0 || batch_.empty()) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, HasRows());
        if (!any) break;
      }
      const int64_t last = at_ + std::min(left, rows() - at_);
      SLUICE_ASSIGN_OR_RETURN(Tensors part, Rows(at_, last));
      parts.push_back(std::move(part));
      left -= last - at_;
      at_ = last;
    }
    if (parts.empty() || (drop_remainder_ && left > 0)) return false;
    turn_ = (turn_ + 1) % sizes_.size();
    SLUICE_ASSIGN_OR_RETURN(*element, ConcatenateRows(parts));
    return true;
  }

 private:
  int64_t rows() const { return batch_[0].dim(0); }

  // Reads batches until one has a row that was not taken. Returns false at the end.
  absl::StatusOr<bool> HasRows() {
    while (batch_.empty() || at_ == rows()) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      at_ = 0;
      batch_.clear();
      if (inner_ == nullptr) return false;
      Tensors batch;  // becomes batch_ only if it is valid
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&batch));
      if (!any) {
        inner_ = nullptr;
        return false;
      }
      for (const Tensor& t : batch) {
        SLUICE_INVALID_IF(t.rank() == 0,
                          "Input element must have a non-scalar value in each component.");
        SLUICE_INVALID_IF(t.dim(0) != batch[0].dim(0),
                          "Input element must have the same batch size in each component.");
      }
      batch_ = std::move(batch);
    }
    return true;
  }

  absl::StatusOr<Tensors> Rows(int64_t first, int64_t last) const {
    Tensors rows;
    for (const Tensor& t : batch_) {
      SLUICE_ASSIGN_OR_RETURN(Tensor part, t.SliceRows(first, last).Clone(LimitedHeap()));
      rows.push_back(std::move(part));
    }
    return rows;
  }

  IteratorPointer inner_;  // null after the end of the input
  const std::vector<int64_t> sizes_;
  const bool drop_remainder_;
  Reading& reading_;
  size_t turn_ = 0;
  Tensors batch_;
  int64_t at_ = 0;  // first row of batch_ that was not taken
};

MadeDataset RebatchDatasetV2(const KernelContext& c, const DatasetPointer& input) {
  const Tensor& sizes = c.input(InputIndex(c, "batch_sizes"));
  SLUICE_ASSIGN_OR_RETURN(const auto drop, ScalarInput<bool>(c, "drop_remainder"));
  SLUICE_INVALID_IF(sizes.rank() > 1, "`batch_sizes` must be a scalar or a vector.");
  const auto all = sizes.flat<int64_t>();
  SLUICE_INVALID_IF(all.empty(), "`batch_sizes` must not be empty.");
  for (int64_t size : all) SLUICE_INVALID_IF(size < 0, "`batch_sizes` must be >= 0, got ", size);
  const std::vector<int64_t> list(all.begin(), all.end());
  return MakeDatasetOver(
      input, {.options = input->facts().options}, [=](IteratorPointer inner, Reading& reading) {
        return std::make_unique<RebatchIterator>(std::move(inner), list, drop, reading);
      });
}

KERNEL(BatchDataset, DatasetKernel<BatchDataset>);
KERNEL(BatchDatasetV2, DatasetKernel<BatchDataset>);
KERNEL(ExperimentalRebatchDataset, DatasetKernel<RebatchDataset>);
KERNEL(ExperimentalUnbatchDataset, DatasetKernel<UnbatchDataset>);
KERNEL(PaddedBatchDataset, DatasetKernel<PaddedBatchDataset>);
KERNEL(PaddedBatchDatasetV2, DatasetKernel<PaddedBatchDataset>);
KERNEL(ParallelBatchDataset, DatasetKernel<BatchDataset>);
KERNEL(RebatchDataset, DatasetKernel<RebatchDataset>);
KERNEL(RebatchDatasetV2, DatasetKernel<RebatchDatasetV2>);
KERNEL(UnbatchDataset, DatasetKernel<UnbatchDataset>);

}  // namespace
}  // namespace sluice
