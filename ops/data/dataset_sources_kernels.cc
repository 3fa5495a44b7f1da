// Random numbers, names of files and rows of a sparse tensor as datasets.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/checkpoint/files.h"
#include "ops/data/dataset.h"
#include "ops/data/shuffle.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;

absl::Status RandomDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto seed, ScalarInput<int64_t>(c, 0, "seed"));
  SLUICE_ASSIGN_OR_RETURN(const auto seed2, ScalarInput<int64_t>(c, 1, "seed2"));
  constexpr bool kReshuffle = false;
  const auto seeds = ShuffleSeeds(seed, seed2, kReshuffle).Next();
  const auto iterate = [seeds](Reading& reading) -> Iterating {
    auto philox = std::make_shared<Philox>(seeds.first, seeds.second);
    return MakeIterator([philox, &reading,
                         numbers = SingleNumbers(philox.get())](Tensors* element) mutable -> Next {
      SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
      *element = {Tensor::Scalar<int64_t>(numbers())};
      return true;
    });
  };
  c.set_output(0, TensorOf(MakeDataset({.cardinality = DatasetFacts::kInfinite}, iterate)));
  return absl::OkStatus();
}

// The files of one pattern after the other.
class MatchingFilesIterator : public DatasetIterator {
 public:
  explicit MatchingFilesIterator(std::vector<std::string> patterns)
      : patterns_(std::move(patterns)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (at_ == found_.size()) {
      if (next_pattern_ == patterns_.size()) {
        if (has_match_) return false;
        return absl::NotFoundError("Don't find any matched files");
      }
      SLUICE_RETURN_IF_ERROR(Match(patterns_[next_pattern_]));
      ++next_pattern_;
    }
    has_match_ = true;
    *element = {Tensor::Scalar(std::move(found_[at_++]))};
    return true;
  }

 private:
  absl::Status Match(const std::string& pattern) {
    const std::string fixed = pattern.substr(0, pattern.find_first_of("*?[\\"));
    const bool has_folder = fixed.find('/') != std::string::npos;
    const std::string folder = has_folder ? DirectoryOf(fixed) : ".";
    if (!FileExists(folder)) {
      return absl::NotFoundError(StrCat(folder, "; No such file or directory"));
    }
    SLUICE_ASSIGN_OR_RETURN(found_, MatchFiles(has_folder ? pattern : JoinPath(folder, pattern)));
    std::erase_if(found_, [](const std::string& path) {
      std::error_code ignored;
      return std::filesystem::is_directory(path, ignored);
    });
    at_ = 0;
    return absl::OkStatus();
  }

  const std::vector<std::string> patterns_;
  size_t next_pattern_ = 0;
  std::vector<std::string> found_;  // of the last pattern
  size_t at_ = 0;                   // in found_
  bool has_match_ = false;
};

absl::Status MatchingFilesDataset(KernelContext& c) {
  const auto patterns = c.input(0).flat<std::string>();
  const std::vector<std::string> all(patterns.begin(), patterns.end());
  c.set_output(0, TensorOf(MakeDataset({}, [all](Reading&) -> Iterating {
                 return std::make_unique<MatchingFilesIterator>(all);
               })));
  return absl::OkStatus();
}

// --- rows of a sparse tensor

struct SparseRows {
  Tensor indices, values, dense_shape;
  // The row of the entries [first, last).
  absl::StatusOr<Tensors> Row(int64_t first, int64_t last) const;
};

absl::StatusOr<Tensors> SparseRows::Row(int64_t first, int64_t last) const {
  const int64_t rank = dense_shape.num_elements();
  Tensor row_indices(DT_INT64, {last - first, rank - 1});
  for (int64_t k = first; k < last; ++k) {
    std::copy_n(indices.data<int64_t>() + k * rank + 1, rank - 1,
                row_indices.data<int64_t>() + (k - first) * (rank - 1));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor row_values, values.SliceRows(first, last).Clone());
  SLUICE_ASSIGN_OR_RETURN(Tensor row_shape, dense_shape.SliceRows(1, rank).Clone());
  return Tensors{std::move(row_indices), std::move(row_values), std::move(row_shape)};
}

absl::Status CheckSparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) {
    return InvalidArgument("Input indices must be a matrix. Got: ", indices.shape().ToString());
  }
  if (values.rank() != 1) {
    return InvalidArgument("Input values must be a vector. Got: ", values.shape().ToString());
  }
  if (shape.rank() != 1) {
    return InvalidArgument("Input shape must be a vector. Got: ", shape.shape().ToString());
  }
  if (values.dim(0) != indices.dim(0)) {
    return InvalidArgument("Number of values must match first dimension of indices. Got ",
                           values.dim(0), " values, indices shape: ", indices.shape().ToString());
  }
  if (shape.dim(0) != indices.dim(1)) {
    return InvalidArgument("Number of dimensions must match second dimension of indices. Got ",
                           shape.dim(0),
                           " dimensions, indices shape: ", indices.shape().ToString());
  }
  if (shape.num_elements() == 0) {
    return InvalidArgument("The shape argument requires at least one element.");
  }
  for (int64_t size : shape.flat<int64_t>()) {
    if (size >= 0) continue;
    return InvalidArgument("Expected shape dimensions to be non-negative, got ", size);
  }
  return absl::OkStatus();
}

absl::Status SparseTensorSliceDataset(KernelContext& c) {
  const SparseRows rows{.indices = c.input(0), .values = c.input(1), .dense_shape = c.input(2)};
  SLUICE_RETURN_IF_ERROR(CheckSparse(rows.indices, rows.values, rows.dense_shape));
  const int64_t entries = rows.values.dim(0), rank = rows.dense_shape.dim(0);
  const auto row_of = [indices = rows.indices, rank](int64_t entry) {
    return indices.data<int64_t>()[entry * rank];
  };
  for (int64_t k = 0; k < entries; ++k) {
    if (row_of(k) < (k == 0 ? -1 : row_of(k - 1))) {
      return absl::UnimplementedError(
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
          "input is not currently supported.");
    }
  }
  const int64_t num_rows = rows.dense_shape.data<int64_t>()[0];
  const auto iterate = [=](Reading& reading) -> Iterating {
    return MakeIterator(
        [=, &reading, row = int64_t{0}, first = int64_t{0}](Tensors* element) mutable -> Next {
          if (row == num_rows) return false;
          SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
          while (first < entries && row_of(first) < row) ++first;
          int64_t last = first;
          while (last < entries && row_of(last) == row) ++last;
          SLUICE_ASSIGN_OR_RETURN(*element, rows.Row(first, last));
          first = last;
          ++row;
          return true;
        });
  };
  c.set_output(0, TensorOf(MakeDataset({.cardinality = num_rows}, iterate)));
  return absl::OkStatus();
}

KERNEL(MatchingFilesDataset, FunctionKernel<MatchingFilesDataset>);
KERNEL(RandomDataset, FunctionKernel<RandomDataset>);
KERNEL(SparseTensorSliceDataset, FunctionKernel<SparseTensorSliceDataset>,
       {"Tvalues",
        TypeSet{DT_BFLOAT16, DT_BOOL,   DT_COMPLEX128, DT_COMPLEX64, DT_DOUBLE, DT_FLOAT,
                DT_HALF,     DT_INT16,  DT_INT32,      DT_INT64,     DT_INT8,   DT_QINT32,
                DT_QINT8,    DT_QUINT8, DT_RESOURCE,   DT_STRING,    DT_UINT16, DT_UINT32,
                DT_UINT64,   DT_UINT8,  DT_VARIANT}});

}  // namespace
}  // namespace sluice
