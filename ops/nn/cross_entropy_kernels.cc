#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/nn/class_rows.h"

namespace sluice {
namespace {

namespace rows = class_rows;

constexpr double kCost = 1.5;  // nanoseconds per class

// Computes the loss and the gradient of one row, given a distribution of labels.
template <typename F>
F DenseRow(const F* x, const F* labels, F* backprop, int64_t n) {
  const F max = rows::Max(x, n);
  const F sum = rows::ExpSum(x, max, backprop, n);
  const F loss = rows::Expected(labels, x, max, std::log(sum), n);
  rows::ScaleMinus(backprop, F(1) / sum, labels, n);
  return loss;
}

// Computes the loss and the gradient of one row, given a single label.
template <typename F>
F SparseRow(const F* x, int64_t label, F* backprop, int64_t n) {
  const F max = rows::Max(x, n);
  const F sum = rows::ExpSum(x, max, backprop, n);
  const F loss = std::log(sum) - (x[label] - max);
  rows::Scale(backprop, F(1) / sum, n);
  backprop[label] -= F(1);
  return loss;
}

// A matrix that is broadcast to `rows` x `columns`.
template <typename T>
class Broadcast {
 public:
  Broadcast(const Tensor& t, int64_t columns)
      : data_(t.data<T>()),
        row_stride_(t.dim(0) == 1 ? 0 : t.dim(1)),
        columns_(columns),
        is_one_column_(t.dim(1) == 1 && columns != 1) {}

  const rows::Wide<T>* Row(int64_t r, std::vector<rows::Wide<T>>* buffer) const {
    const T* row = data_ + r * row_stride_;
    if (!is_one_column_) return rows::Widen(row, columns_, buffer);
    buffer->assign(static_cast<size_t>(columns_), static_cast<rows::Wide<T>>(*row));
    return buffer->data();
  }

 private:
  const T* data_;
  int64_t row_stride_;
  int64_t columns_;
  bool is_one_column_;
};

// Returns the shape to which both matrices broadcast. Errors have TensorFlow's texts.
absl::StatusOr<TensorShape> BroadcastMatrix(const Tensor& logits, const Tensor& labels) {
  const int rank = std::max(logits.rank(), labels.rank());
  TensorShape joined;
  for (int i = 0; i < rank; ++i) {
    auto size = [&](const Tensor& t) {
      const int d = i - (rank - t.rank());
      return d < 0 ? 1 : t.dim(d);
    };
    const int64_t a = size(logits), b = size(labels);
    SLUICE_INVALID_IF(a != b && a != 1 && b != 1,
                      "logits and labels must be broadcastable: logits_size=",
                      logits.shape().ToString(), " labels_size=", labels.shape().ToString());
    joined.AddDim(a == 1 ? b : a);
  }
  SLUICE_INVALID_IF(
      !joined.IsMatrix(),
      "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  return joined;
}

// Reshapes a vector to a matrix of one row.
Tensor AsMatrix(const Tensor& t) {
  if (t.rank() == 2) return t;
  return t.Reshaped(t.rank() == 1 ? TensorShape({1, t.dim(0)}) : TensorShape({1, 1}));
}

template <typename T>
void Rows(const Broadcast<T>& logits, const Broadcast<T>& labels, T* loss, T* backprop, int64_t n,
          int64_t begin, int64_t end) {
  std::vector<rows::Wide<T>> wide_x, wide_p, wide_y;
  for (int64_t r = begin; r < end; ++r) {
    auto* y = rows::Target(backprop + r * n, n, &wide_y);
    loss[r] = T(DenseRow(logits.Row(r, &wide_x), labels.Row(r, &wide_p), y, n));
    rows::Narrow(y, n, backprop + r * n);
  }
}

template <typename T>
absl::Status CrossEntropy(KernelContext& context) {
  SLUICE_ASSIGN_OR_RETURN(TensorShape shape, BroadcastMatrix(context.input(0), context.input(1)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * loss, context.AllocateOutput(0, {shape.dim(0)}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * backprop, context.AllocateOutput(1, shape));
  const int64_t n = shape.dim(1);
  if (n == 0) std::fill_n(loss->data<T>(), shape.dim(0), T(0));
  if (shape.num_elements() == 0) return absl::OkStatus();
  const Tensor logits = AsMatrix(context.input(0)), labels = AsMatrix(context.input(1));
  const Broadcast<T> x(logits, n), p(labels, n);
  context.ParallelFor(shape.dim(0), kCost * static_cast<double>(n),
                      [&](int64_t begin, int64_t end) {
                        Rows(x, p, loss->data<T>(), backprop->data<T>(), n, begin, end);
                      });
  return absl::OkStatus();
}
FUNCTION_KERNELS(SoftmaxCrossEntropyWithLogits, "T", CrossEntropy, FloatList);

absl::Status CheckSparse(const Tensor& logits, const Tensor& labels) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(logits, 2, "logits must be 2-D, but got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(labels, 1, "labels must be 1-D, but got shape "));
  SLUICE_INVALID_IF(logits.dim(0) != labels.dim(0),
                    "logits and labels must have the same first dimension, got logits shape ",
                    logits.shape().ToString(), " and labels shape ", labels.shape().ToString());
  SLUICE_INVALID_IF(logits.dim(1) <= 0, "Must have at least one class, but got logits shape ",
                    logits.shape().ToString());
  return absl::OkStatus();
}

template <typename Label>
absl::Status CheckLabels(const Tensor& labels, int64_t classes) {
  for (Label label : labels.flat<Label>()) {
    if (label >= 0 && label < classes) continue;
    return InvalidArgument("Received a label value of ", label,
                           " which is outside the valid range of [0, ", classes,
                           ").  Label values: ", labels.SummarizeValues(labels.num_elements()));
  }
  return absl::OkStatus();
}

template <typename T, typename Label>
absl::Status RunSparse(KernelContext& context, T* loss) {
  const TensorShape shape = context.input(0).shape();
  const int64_t n = shape.dim(1);
  SLUICE_RETURN_IF_ERROR(CheckLabels<Label>(context.input(1), n));
  const T* x = context.input(0).data<T>();
  const Label* labels = context.input(1).data<Label>();
  SLUICE_ASSIGN_OR_RETURN(Tensor * backprop, context.AllocateOutput(1, shape));
  T* out = backprop->data<T>();
  context.ParallelFor(
      shape.dim(0), kCost * static_cast<double>(n), [&](int64_t begin, int64_t end) {
        std::vector<rows::Wide<T>> wide_x, wide_y;
        for (int64_t r = begin; r < end; ++r) {
          auto* y = rows::Target(out + r * n, n, &wide_y);
          loss[r] = T(
              SparseRow(rows::Widen(x + r * n, n, &wide_x), static_cast<int64_t>(labels[r]), y, n));
          rows::Narrow(y, n, out + r * n);
        }
      });
  return absl::OkStatus();
}

template <typename T>
absl::Status SparseCrossEntropy(KernelContext& context) {
  const Tensor& logits = context.input(0);
  SLUICE_RETURN_IF_ERROR(CheckSparse(logits, context.input(1)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * loss, context.AllocateOutput(0, {logits.dim(0)}));
  return context.input(1).dtype() == DT_INT32 ? RunSparse<T, int32_t>(context, loss->data<T>())
                                              : RunSparse<T, int64_t>(context, loss->data<T>());
}
FUNCTION_KERNELS(SparseSoftmaxCrossEntropyWithLogits, "T", SparseCrossEntropy, FloatList);

}  // namespace
}  // namespace sluice
