#include <algorithm>

#include "graph/infer/constant_context.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/constant.h"

namespace sluice {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxVisits = 1 << 13;

template <typename T>
std::vector<std::optional<int64_t>> Elements(const Tensor& t) {
  return std::vector<std::optional<int64_t>>(t.flat<T>().begin(), t.flat<T>().end());
}

template <typename T>
Tensor ToTensor(const PartialInts& ints) {
  Tensor t(kDataTypeOf<T>, ints.is_scalar
                               ? TensorShape()
                               : TensorShape({static_cast<int64_t>(ints.values.size())}));
  for (size_t i = 0; i < ints.values.size(); ++i) t.data<T>()[i] = static_cast<T>(*ints.values[i]);
  return t;
}

// The constant behind nodes that only pass it on, of any type and size.
const Tensor* ConstTensor(const Node* node) {
  while (OnlyPassesOn(*node) && node->input(0)) node = node->input(0).node;
  return IsConstant(*node) ? node->FindAttr<Tensor>("value") : nullptr;
}

std::optional<PartialInts> Evaluate(Output output) {
  int visits_left = kMaxVisits;
  return ConstantContext(output, 0, &visits_left).Evaluate();
}

}  // namespace

PartialInts PartialInts::Unknown(int64_t size) {
  return {false, std::vector<std::optional<int64_t>>(size)};
}

std::optional<PartialInts> ConstantContext::Evaluate() {
  if (!output_ || depth_ > kMaxDepth || --*visits_left_ < 0) return std::nullopt;
  const DataType type = BaseType(output_.dtype());
  if (type != DT_INT32 && type != DT_INT64) return std::nullopt;
  const absl::Span<const Output> inputs = node().inputs();
  if (!std::all_of(inputs.begin(), inputs.end(), [](const Output& in) { return bool(in); })) {
    return std::nullopt;
  }
  if (IsConstant(node())) {
    const Tensor* value = node().FindAttr<Tensor>("value");
    return value == nullptr ? std::nullopt : IntsOfTensor(*value);
  }
  const auto value = node().traits().constant_value;
  return value == nullptr ? std::nullopt : value(*this);
}

std::optional<PartialInts> ConstantContext::Input(int i) const {
  return ConstantContext(node().input(i), depth_ + 1, visits_left_).Evaluate();
}

std::optional<int64_t> ConstantContext::Element(int i) const {
  const std::optional<PartialInts> ints = Input(i);
  return ints && ints->values.size() == 1 ? ints->values[0] : std::nullopt;
}

namespace {

bool BroadcastsTo(const PartialInts& ints, size_t n) {
  return ints.values.size() == n || ints.values.size() == 1;
}

const std::optional<int64_t>& ElementOf(const PartialInts& ints, size_t i) {
  return ints.values[ints.values.size() == 1 ? 0 : i];
}

}  // namespace

std::optional<PartialInts> ConstantContext::Broadcast(Arithmetic f) const {
  const std::optional<PartialInts> a = Input(0), b = Input(1);
  if (!a || !b) return std::nullopt;
  const size_t n = std::max(a->values.size(), b->values.size());
  if (!BroadcastsTo(*a, n) || !BroadcastsTo(*b, n)) return std::nullopt;
  PartialInts out{a->is_scalar && b->is_scalar, {}};
  for (size_t i = 0; i < n; ++i) {
    const auto& x = ElementOf(*a, i);
    const auto& y = ElementOf(*b, i);
    out.values.push_back(x && y ? f(*x, *y) : std::nullopt);
  }
  return out;
}

std::optional<PartialInts> IntsOfShape(const PartialShape& shape) {
  if (!shape.rank_known()) return std::nullopt;
  PartialInts ints;
  for (int64_t d : shape.dims()) ints.values.push_back(d < 0 ? std::nullopt : std::optional(d));
  return ints;
}

std::optional<PartialInts> IntsOfTensor(const Tensor& t) {
  if (t.rank() > 1 || t.num_elements() > ConstantContext::kMaxElements) return std::nullopt;
  const bool is_scalar = t.rank() == 0;
  if (t.dtype() == DT_INT32) return PartialInts{is_scalar, Elements<int32_t>(t)};
  if (t.dtype() == DT_INT64) return PartialInts{is_scalar, Elements<int64_t>(t)};
  return std::nullopt;
}

std::optional<PartialInts> ValueOfInput(ConstantContext& context) { return context.Input(0); }

std::optional<Tensor> ConstantValue(Output output) {
  if (!output) return std::nullopt;
  if (const Tensor* value = ConstTensor(output.node)) return *value;
  const std::optional<PartialInts> ints = Evaluate(output);
  if (!ints) return std::nullopt;
  const auto is_known = [](const std::optional<int64_t>& value) { return value.has_value(); };
  if (!std::all_of(ints->values.begin(), ints->values.end(), is_known)) return std::nullopt;
  return BaseType(output.dtype()) == DT_INT32 ? ToTensor<int32_t>(*ints) : ToTensor<int64_t>(*ints);
}

std::optional<PartialShape> ConstantValueAsShape(Output output) {
  const std::optional<PartialInts> ints = Evaluate(output);
  if (!ints || ints->is_scalar) return std::nullopt;
  PartialShape shape = PartialShape::Scalar();
  for (const auto& v : ints->values) shape.AddDim(v && *v >= -1 ? *v : PartialShape::kUnknown);
  return shape;
}

}  // namespace sluice
