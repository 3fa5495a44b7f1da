#include <algorithm>
#include <limits>
#include <numeric>

#include "executor/kernel/context.h"
#include "graph/tensor/room.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

// Checks that no length exceeds `most`, the size of dimension `sequence`.
absl::Status CheckLengths(const Tensor& lengths, int64_t most, int64_t sequence) {
  for (int64_t i = 0; i < lengths.num_elements(); ++i) {
    const int64_t n = IntAt(lengths, i);
    SLUICE_INVALID_IF(n < 0, "seq_lens(", i, ") < 0");
    SLUICE_INVALID_IF(n > most, "seq_lens(", i, ") > input.dims(", sequence, "), (", n, " vs. ",
                      most, ")");
  }
  return absl::OkStatus();
}

class ReverseSequenceKernel : public Kernel {
 public:
  explicit ReverseSequenceKernel(KernelInit& init)
      : batch_(init.attr<int64_t>("batch_dim")), sequence_(init.attr<int64_t>("seq_dim")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &lengths = c.input(1);
    SLUICE_INVALID_IF(lengths.rank() != 1, "seq_lengths must be 1-dim, not ", lengths.rank());
    SLUICE_INVALID_IF(batch_ == sequence_, "batch_dim == seq_dim == ", sequence_);
    for (int64_t d : {sequence_, batch_}) {
      if (d >= 0 && d < in.rank()) continue;
      return InvalidArgument(d == sequence_ ? "seq_dim" : "batch_dim", " must be in [0, input rank",
                             "), got ", d, " for rank ", in.rank());
    }
    const int b = static_cast<int>(batch_), s = static_cast<int>(sequence_);
    SLUICE_INVALID_IF(lengths.num_elements() != in.dim(b), "Length of seq_lengths != input.dims(",
                      batch_, "), (", lengths.num_elements(), " vs. ", in.dim(b), ")");
    SLUICE_RETURN_IF_ERROR(CheckLengths(lengths, in.dim(s), sequence_));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    for (int64_t i = 0; i < in.dim(b); ++i) CopyOne(c, in, i, IntAt(lengths, i), out);
    return absl::OkStatus();
  }

 private:
  // Copies batch element i, and reverses its first `n` steps.
  void CopyOne(KernelContext& c, const Tensor& in, int64_t i, int64_t n, Tensor* out) const {
    const auto strides = RowMajorStrides(in.shape());
    for (const bool reversed : {true, false}) {
      CopyBox box;
      for (int d = 0; d < in.rank(); ++d) box.dims.push_back({in.dim(d), strides[d], strides[d]});
      box.dims[batch_].size = 1;
      box.from_offset = box.to_offset = i * strides[batch_];
      CopyDim& time = box.dims[sequence_];
      if (reversed) {
        box.from_offset += (n - 1) * time.from;
        time.from = -time.from;
        time.size = n;
      } else {
        box.from_offset += n * time.from;
        box.to_offset += n * time.to;
        time.size -= n;
      }
      if (box.num_elements() == 0) continue;
      CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
    }
  }

  const int64_t batch_, sequence_;
};
KERNEL(ReverseSequence, ReverseSequenceKernel,
       {"T", RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING}});

// A sparse tensor of sequences, of which three inputs have the indices, the values and the shape.
struct Sequences {
  const Tensor &indices, &values, &shape;
  int rank() const { return static_cast<int>(shape.num_elements()); }
  // Returns the position of entry i's sequence in an output of shape `out`, or -1 if it is outside.
  int64_t Place(int64_t i, const TensorShape& out) const {
    int64_t place = 0;
    for (int d = 0; d < out.rank(); ++d) {
      const int64_t at = indices.data<int64_t>()[i * rank() + d];
      if (at < 0 || at >= out.dim(d)) return -1;
      place = place * out.dim(d) + at;
    }
    return place;
  }
};

absl::Status CheckSequences(const Sequences& s, const char* name) {
  SLUICE_INVALID_IF(s.indices.rank() != 2, name,
                    "_indices should be a matrix, but got shape: ", s.indices.shape().ToString());
  SLUICE_INVALID_IF(s.values.rank() != 1, name,
                    "_values should be a vector, but got shape: ", s.values.shape().ToString());
  SLUICE_INVALID_IF(s.shape.rank() != 1, name,
                    "_shape should be a vector, but got shape: ", s.shape.shape().ToString());
  SLUICE_INVALID_IF(s.indices.dim(0) != s.values.dim(0), "Expected ", name,
                    "_values.NumElements == #rows(", name,
                    "_indices), their shapes are: ", s.values.shape().ToString(), " and ",
                    s.indices.shape().ToString());
  SLUICE_INVALID_IF(s.indices.dim(1) != s.rank(), name, "_indices, ", name, "_values and ", name,
                    "_shape do not fit: ", s.indices.shape().ToString(), ", ",
                    s.values.shape().ToString(), ", ", s.shape.shape().ToString());
  SLUICE_INVALID_IF(s.rank() < 1, name, "_shape must have at least one element");
  return absl::OkStatus();
}

// The entries [begin, end) of one sequence.
struct Run {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// Sequences may be long, so that it checks for cancellation after every kLook elements.
template <typename T>
absl::StatusOr<int64_t> Distance(absl::Span<const T> x, absl::Span<const T> y,
                                 const Caller& caller) {
  constexpr size_t kLook = 64;
  std::vector<int64_t> row(y.size() + 1);
  std::iota(row.begin(), row.end(), int64_t{0});
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % kLook == kLook - 1) SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < y.size(); ++j) {
      const int64_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (x[i] == y[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// Finds the entries of each sequence, which must be contiguous.
absl::Status FindRuns(const Sequences& s, const TensorShape& shape, std::vector<Run>* runs) {
  for (int64_t i = 0; i < s.values.dim(0); ++i) {
    const int64_t place = s.Place(i, shape);
    SLUICE_INVALID_IF(place < 0, "entry ", i, " lies outside of the shape ", shape.ToString());
    Run& run = (*runs)[static_cast<size_t>(place)];
    if (run.size() == 0) {
      run = {i, i + 1};
    } else if (run.end == i) {
      ++run.end;
    } else {
      return InvalidArgument("indices are not in order: entry ", i);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status SetDistances(KernelContext& c, const Tensor& hypotheses, const std::vector<Run>& own,
                          const Tensor& truths, const std::vector<Run>& other, bool normalize,
                          Tensor* out) {
  const Caller caller = CallerOf(c);
  for (size_t i = 0; i < own.size(); ++i) {
    const Run x = own[i], y = other[i];
    SLUICE_ASSIGN_OR_RETURN(
        const int64_t edits,
        Distance<T>({hypotheses.data<T>() + x.begin, static_cast<size_t>(x.size())},
                    {truths.data<T>() + y.begin, static_cast<size_t>(y.size())}, caller));
    auto distance = static_cast<float>(edits);
    if (normalize && y.size() > 0) distance /= static_cast<float>(y.size());
    if (normalize && y.size() == 0 && x.size() > 0) {
      distance = std::numeric_limits<float>::infinity();
    }
    out->data<float>()[i] = distance;
  }
  return absl::OkStatus();
}

// Types whose equal elements may differ in their bits, such as 0 and -0.
using WithOwnEquality =
    JoinTypes<JoinTypes<FloatList, ComplexList>::type, TypeList<std::string>>::type;

absl::Status EditDistance(KernelContext& c, Attr<bool, "normalize"> normalize) {
  const Sequences hypothesis{c.input(0), c.input(1), c.input(2)};
  const Sequences truth{c.input(3), c.input(4), c.input(5)};
  SLUICE_RETURN_IF_ERROR(CheckSequences(hypothesis, "hypothesis"));
  SLUICE_RETURN_IF_ERROR(CheckSequences(truth, "truth"));
  SLUICE_INVALID_IF(hypothesis.rank() != truth.rank(),
                    "Expected truth and hypothesis to have matching ranks, but their shapes are: ",
                    truth.rank(), " and ", hypothesis.rank(), " elements long");
  std::vector<int64_t> dims;
  for (int d = 0; d + 1 < truth.rank(); ++d) {
    dims.push_back(std::max(hypothesis.shape.data<int64_t>()[d], truth.shape.data<int64_t>()[d]));
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  SLUICE_RETURN_IF_ERROR(CheckRoom(shape.num_elements(), sizeof(Run), "sequences"));
  std::vector<Run> own(static_cast<size_t>(shape.num_elements())), other = own;
  SLUICE_RETURN_IF_ERROR(FindRuns(hypothesis, shape, &own));
  SLUICE_RETURN_IF_ERROR(FindRuns(truth, shape, &other));
  absl::Status status;
  // Other types are equal if their bits are.
  WithTypeOrBits(hypothesis.values.dtype(), WithOwnEquality(), [&]<typename T>(ElementTag<T>) {
    status = SetDistances<T>(c, hypothesis.values, own, truth.values, other, normalize, out);
  });
  return status;
}
KERNEL(EditDistance, FunctionKernel<EditDistance>,
       {"T", RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING}});

}  // namespace
}  // namespace sluice
