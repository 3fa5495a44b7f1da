#include "graph/infer/shape_context.h"

#include <algorithm>

#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

const PartialShape& UnknownShape() {
  static const PartialShape* unknown = new PartialShape;
  return *unknown;
}

template <typename T>
std::vector<int64_t> Widen(const Tensor& t) {
  return std::vector<int64_t>(t.flat<T>().begin(), t.flat<T>().end());
}

std::optional<std::vector<int64_t>> Integers(const Tensor& t) {
  if (t.dtype() == DT_INT32) return Widen<int32_t>(t);
  if (t.dtype() == DT_INT64) return Widen<int64_t>(t);
  if (t.dtype() == DT_INT16) return Widen<int16_t>(t);
  if (t.dtype() == DT_INT8) return Widen<int8_t>(t);
  return std::nullopt;
}

}  // namespace

ShapeContext::ShapeContext(Node* node) : node_(node) {}

const PartialShape& ShapeContext::input(int i) const {
  const Output& in = node_->input(i);
  return in ? in.shape() : UnknownShape();
}

std::pair<int, int> ShapeContext::InputRange(std::string_view arg) const {
  const int index = node_->def().InputIndex(arg);
  return index < 0 ? std::pair<int, int>(0, 0) : node_->InputRange(index);
}

std::optional<Tensor> ShapeContext::InputValue(int i) const {
  const Output& in = node_->input(i);
  return in ? ConstantValue(in) : std::nullopt;
}

std::optional<std::vector<int64_t>> ShapeContext::InputInts(int i) const {
  if (std::optional<Tensor> value = InputValue(i)) return Integers(*value);
  const Output& in = node_->input(i);
  if (!in || input(i).rank() != 1) return std::nullopt;
  std::optional<PartialShape> partial = ConstantValueAsShape(in);
  if (!partial || !partial->rank_known()) return std::nullopt;
  return std::vector<int64_t>(partial->dims().begin(), partial->dims().end());
}

absl::StatusOr<PartialShape> ShapeContext::InputAsShape(int i) const {
  const PartialShape& s = input(i);
  SLUICE_INVALID_IF(s.rank_known() && s.rank() > 1, "Shape must be rank 1 but is rank ", s.rank(),
                    " (input ", i, ")");
  if (std::optional<std::vector<int64_t>> ints = InputInts(i)) {
    if (s.rank() == 0 && ints->size() == 1 && (*ints)[0] == -1) return PartialShape();
    for (int64_t d : *ints) {
      SLUICE_INVALID_IF(d < -1, "Invalid value in tensor used for shape: ", d);
    }
    return PartialShape(*ints);
  }
  if (s.rank() == 1 && s.dim(0) >= 0 && s.dim(0) <= TensorShape::kMaxRank) {
    return PartialShape::UnknownOfRank(static_cast<int>(s.dim(0)));
  }
  return PartialShape();
}

absl::StatusOr<int64_t> ShapeContext::InputAsSize(int i) const {
  SLUICE_INVALID_IF(input(i).rank() > 0, "Input must be scalar but has rank ", input(i).rank());
  const std::optional<Tensor> value = InputValue(i);
  if (!value || value->num_elements() != 1) return PartialShape::kUnknown;
  const std::optional<std::vector<int64_t>> ints = Integers(*value);
  if (!ints) return PartialShape::kUnknown;
  if ((*ints)[0] >= 0) return (*ints)[0];
  return InvalidArgument("Dimension size, given by scalar input ", i,
                         ", must be non-negative but is ", (*ints)[0]);
}

absl::Status ShapeContext::SetOutput(int i, PartialShape shape) {
  // Attributes may have values that only the kernel rejects.
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) < 0) shape.set_dim(d, PartialShape::kUnknown);
  }
  // If a count and a list of types disagree, output i may not exist; the kernel reports it.
  if (i < num_outputs()) node_->set_output_shape(i, std::move(shape));
  return absl::OkStatus();
}
absl::Status ShapeContext::SetOutputs(const PartialShape& shape) {
  for (int i = 0; i < num_outputs(); ++i) SLUICE_RETURN_IF_ERROR(SetOutput(i, shape));
  return absl::OkStatus();
}

const HandleData* ShapeContext::InputHandle(int i) const {
  const Output& in = node_->input(i);
  return in ? in.node->output_handle(in.index) : nullptr;
}

absl::StatusOr<PartialShape> ShapeContext::WithRank(int i, int rank) const {
  return sluice::WithRank(input(i), rank);
}
absl::StatusOr<PartialShape> ShapeContext::WithRankAtLeast(int i, int rank) const {
  const PartialShape& s = input(i);
  SLUICE_INVALID_IF(s.rank_known() && s.rank() < rank, "Shape must be at least rank ", rank,
                    " but is rank ", s.rank());
  return s;
}
absl::StatusOr<PartialShape> ShapeContext::WithRankAtMost(int i, int rank) const {
  const PartialShape& s = input(i);
  SLUICE_INVALID_IF(s.rank_known() && s.rank() > rank, "Shape must be at most rank ", rank,
                    " but is rank ", s.rank());
  return s;
}

absl::Status InferShapes(Node* node) {
  if (!IsRegistered(*node)) return absl::OkStatus();
  std::vector<PartialShape> before;
  for (int i = 0; i < node->num_outputs(); ++i) before.push_back(node->output_shape(i));
  ShapeContext context(node);
  absl::Status status = node->def().shape(context);
  for (int i = 0; i < node->num_outputs(); ++i) {
    absl::StatusOr<PartialShape> merged = node->output_shape(i).MergeWith(before[i]);
    if (!status.ok()) {
      node->set_output_shape(i, PartialShape());
    } else if (merged.ok()) {
      node->set_output_shape(i, *std::move(merged));
    }
  }
  return status;
}

absl::StatusOr<PartialShape> WithRank(const PartialShape& s, int rank) {
  if (!s.rank_known()) return PartialShape::UnknownOfRank(rank);
  if (s.rank() == rank) return s;
  return InvalidArgument("Shape must be rank ", rank, " but is rank ", s.rank());
}

absl::StatusOr<int64_t> MergeDim(int64_t a, int64_t b) {
  if (a < 0) return b;
  if (b < 0 || a == b) return a;
  return InvalidArgument("Dimensions must be equal, but are ", a, " and ", b);
}

namespace {

absl::StatusOr<int64_t> BroadcastDim(int64_t x, int64_t y) {
  if (x == 1) return y;
  if (y == 1) return x;
  if (x >= 0 && y >= 0) return MergeDim(x, y);
  const int64_t known = std::max(x, y);
  return known > 1 ? known : known == 0 ? 0 : -1;
}

}  // namespace

absl::StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known()) return PartialShape();
  const int rank = std::max(a.rank(), b.rank());
  PartialShape out = PartialShape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.rank() ? 1 : a.dim(i - (rank - a.rank()));
    const int64_t y = i < rank - b.rank() ? 1 : b.dim(i - (rank - b.rank()));
    SLUICE_ASSIGN_OR_RETURN(const int64_t d, BroadcastDim(x, y));
    out.set_dim(i, d);
  }
  return out;
}

absl::StatusOr<int> CanonicalAxis(int64_t axis, int rank) {
  if (rank < 0) return static_cast<int>(axis < 0 ? -1 : axis);
  SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Invalid axis ", axis, ", must be in range [",
                    -rank, ", ", rank, ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

ShapeFunction SameAsInput(int i) {
  return [i](ShapeContext& c) {
    if (const HandleData* handle = c.InputHandle(i)) c.SetOutputHandle(0, *handle);
    return c.SetOutput(0, c.input(i));
  };
}
ShapeFunction ShapeFromInput(int i) {
  return [i](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(i));
    return c.SetOutput(0, std::move(shape));
  };
}
ShapeFunction ScalarOutput() {
  return [](ShapeContext& c) { return c.SetOutputs(PartialShape::Scalar()); };
}
ShapeFunction UnknownOutputs() {
  return [](ShapeContext& c) { return c.SetOutputs(PartialShape()); };
}
ShapeFunction NoOutputs() {
  return [](ShapeContext&) { return absl::OkStatus(); };
}
ShapeFunction BroadcastBinary() {
  return [](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(PartialShape out, BroadcastShapes(c.input(0), c.input(1)));
    return c.SetOutput(0, std::move(out));
  };
}
ShapeFunction AllSameShape() {
  return [](ShapeContext& c) -> absl::Status {
    PartialShape merged;
    for (int i = 0; i < c.num_inputs(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(merged, merged.MergeWith(c.input(i)));
    }
    return c.SetOutput(0, std::move(merged));
  };
}

}  // namespace sluice
