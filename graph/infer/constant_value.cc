// ConstantValue: what the tensors that shapes are made of hold, found without running a kernel.
//
// Works on int32 and int64 tensors of at most kMaxElements elements, of which single elements may
// be unknown: a known value is exact, so whatever cannot be computed here is simply unknown.
#include <algorithm>
#include <functional>
#include <limits>

#include "graph/infer/shape_context.h"

namespace sluice {
namespace {

constexpr int64_t kMaxElements = 1024;
constexpr int kMaxDepth = 64;
// A node is looked at once for each way that leads to it; there may be 2^kMaxDepth.
constexpr int kMaxVisits = 1 << 13;

// A scalar or vector of integers, some of them unknown.
struct Ints {
  bool is_scalar = false;
  std::vector<std::optional<int64_t>> values;
};
using MaybeInts = std::optional<Ints>;

// How deep an evaluation is, and how many more nodes it may look at.
struct Way {
  int depth;
  int* visits_left;
};

MaybeInts Evaluate(Output output, Way way);

std::optional<Tensor> ConstTensor(Output output) {
  const Node* node = output.node;
  while (node->op() == "Identity" && node->input(0)) node = node->input(0).node;
  if (node->op() != "Const" && node->op() != "HostConst") return std::nullopt;
  const Tensor* value = node->FindAttr<Tensor>("value");
  return value ? std::optional<Tensor>(*value) : std::nullopt;
}

MaybeInts FromTensor(const Tensor& t) {
  if (t.rank() > 1 || t.num_elements() > kMaxElements) return std::nullopt;
  Ints ints{t.rank() == 0, {}};
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (t.dtype() == DT_INT32) {
      ints.values.push_back(t.data<int32_t>()[i]);
    } else if (t.dtype() == DT_INT64) {
      ints.values.push_back(t.data<int64_t>()[i]);
    } else {
      return std::nullopt;
    }
  }
  return ints;
}

Ints KnownScalar(std::optional<int64_t> v) { return {true, {v}}; }

MaybeInts EvaluateShape(const PartialShape& s) {
  if (!s.rank_known()) return std::nullopt;
  Ints ints;
  for (int64_t d : s.dims()) ints.values.push_back(d < 0 ? std::nullopt : std::optional(d));
  return ints;
}

MaybeInts EvaluatePack(const Node& node, Way way) {
  Ints ints;
  for (const Output& in : node.inputs()) {
    if (!in || in.shape().rank() != 0) return std::nullopt;
    MaybeInts part = Evaluate(in, way);
    ints.values.push_back(part && part->values.size() == 1 ? part->values[0] : std::nullopt);
  }
  return ints;
}

MaybeInts EvaluateConcat(const Node& node, Way way) {
  Ints ints;
  for (int i = 0; i + 1 < node.num_inputs(); ++i) {
    const Output& in = node.input(i);
    if (!in || in.shape().rank() != 1) return std::nullopt;
    MaybeInts part = Evaluate(in, way);
    if (!part) {
      if (in.shape().dim(0) < 0 || in.shape().dim(0) > kMaxElements) return std::nullopt;
      part = Ints{false, std::vector<std::optional<int64_t>>(in.shape().dim(0))};
    }
    ints.values.insert(ints.values.end(), part->values.begin(), part->values.end());
    if (static_cast<int64_t>(ints.values.size()) > kMaxElements) return std::nullopt;
  }
  return ints;
}

using Arithmetic = std::function<std::optional<int64_t>(int64_t, int64_t)>;

MaybeInts EvaluateBinary(const Node& node, Way way, const Arithmetic& f) {
  MaybeInts a = Evaluate(node.input(0), way);
  MaybeInts b = Evaluate(node.input(1), way);
  if (!a || !b) return std::nullopt;
  const size_t n = std::max(a->values.size(), b->values.size());
  if ((a->values.size() != n && a->values.size() != 1) ||
      (b->values.size() != n && b->values.size() != 1)) {
    return std::nullopt;
  }
  Ints out{a->is_scalar && b->is_scalar, {}};
  for (size_t i = 0; i < n; ++i) {
    const auto& x = a->values[a->values.size() == 1 ? 0 : i];
    const auto& y = b->values[b->values.size() == 1 ? 0 : i];
    out.values.push_back(x && y ? f(*x, *y) : std::nullopt);
  }
  return out;
}

std::optional<int64_t> FloorDivide(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// Of the one dimension of a vector, with constant begin, end and strides.
MaybeInts EvaluateStridedSlice(const Node& node, Way way) {
  MaybeInts data = Evaluate(node.input(0), way);
  int64_t spec[3];
  for (int i = 0; i < 3; ++i) {
    MaybeInts v = Evaluate(node.input(i + 1), way);
    if (!v || v->values.size() != 1 || !v->values[0]) return std::nullopt;
    spec[i] = *v->values[0];
  }
  if (!data || data->is_scalar || spec[2] == 0) return std::nullopt;
  auto mask = [&](const char* name) { return (node.AttrOr<int64_t>(name, 0) & 1) != 0; };
  if (mask("ellipsis_mask") || mask("new_axis_mask")) return std::nullopt;
  const int64_t n = static_cast<int64_t>(data->values.size());
  auto clamp = [&](int64_t v) {
    if (v < 0) v += n;
    return spec[2] > 0 ? std::clamp<int64_t>(v, 0, n) : std::clamp<int64_t>(v, -1, n - 1);
  };
  if (mask("shrink_axis_mask")) {
    const int64_t at = spec[0] < 0 ? spec[0] + n : spec[0];
    if (at < 0 || at >= n) return std::nullopt;
    return KnownScalar(data->values[at]);
  }
  const int64_t begin = mask("begin_mask") ? (spec[2] > 0 ? 0 : n - 1) : clamp(spec[0]);
  const int64_t end = mask("end_mask") ? (spec[2] > 0 ? n : -1) : clamp(spec[1]);
  Ints out;
  // A longer step leads out of the vector as well, and past what can be counted.
  const int64_t step = std::clamp(spec[2], -n - 1, n + 1);
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    out.values.push_back(data->values[i]);
  }
  return out;
}

MaybeInts EvaluateSlice(const Node& node, Way way) {
  MaybeInts data = Evaluate(node.input(0), way);
  MaybeInts begin = Evaluate(node.input(1), way);
  MaybeInts size = Evaluate(node.input(2), way);
  if (!data || !begin || !size || data->is_scalar) return std::nullopt;
  if (begin->values.size() != 1 || size->values.size() != 1) return std::nullopt;
  if (!begin->values[0] || !size->values[0]) return std::nullopt;
  const int64_t n = static_cast<int64_t>(data->values.size());
  const int64_t b = *begin->values[0];
  if (b < 0 || b > n) return std::nullopt;
  const int64_t s = *size->values[0] < 0 ? n - b : *size->values[0];
  if (s > n - b) return std::nullopt;
  return Ints{false, {data->values.begin() + b, data->values.begin() + b + s}};
}

MaybeInts EvaluateRange(const Node& node, Way way) {
  int64_t v[3];
  for (int i = 0; i < 3; ++i) {
    MaybeInts part = Evaluate(node.input(i), way);
    if (!part || part->values.size() != 1 || !part->values[0]) return std::nullopt;
    v[i] = *part->values[0];
  }
  Ints out;
  if (v[2] == 0) return std::nullopt;
  for (int64_t x = v[0]; v[2] > 0 ? x < v[1] : x > v[1];) {
    if (out.values.size() >= kMaxElements) return std::nullopt;
    out.values.push_back(x);
    if (__builtin_add_overflow(x, v[2], &x)) break;  // past any limit
  }
  return out;
}

MaybeInts EvaluateInvertPermutation(const Node& node, Way way) {
  const MaybeInts data = Evaluate(node.input(0), way);
  if (!data || data->is_scalar) return std::nullopt;
  const auto n = static_cast<int64_t>(data->values.size());
  Ints out{false, std::vector<std::optional<int64_t>>(n)};
  for (int64_t i = 0; i < n; ++i) {
    const std::optional<int64_t> to = data->values[i];
    if (!to || *to < 0 || *to >= n || out.values[*to]) return std::nullopt;
    out.values[*to] = i;
  }
  return out;
}

// Product of all elements (Prod over the one dimension), and gathers of single elements.
MaybeInts EvaluateProd(const Node& node, Way way) {
  MaybeInts data = Evaluate(node.input(0), way);
  if (!data || data->is_scalar || node.AttrOr<bool>("keep_dims", false)) return std::nullopt;
  MaybeInts axes = Evaluate(node.input(1), way);
  if (!axes || axes->values.size() != 1) return std::nullopt;
  int64_t product = 1;
  for (const auto& v : data->values) {
    if (!v || *v < 0) return KnownScalar(std::nullopt);
    product = MultiplyWithoutOverflow(product, *v);
    if (product < 0) return KnownScalar(std::nullopt);
  }
  return KnownScalar(product);
}

MaybeInts EvaluateGather(const Node& node, Way way) {
  MaybeInts data = Evaluate(node.input(0), way);
  MaybeInts indices = Evaluate(node.input(1), way);
  if (!data || !indices || data->is_scalar) return std::nullopt;
  Ints out{indices->is_scalar, {}};
  for (const auto& i : indices->values) {
    if (!i || *i < 0 || *i >= static_cast<int64_t>(data->values.size())) return std::nullopt;
    out.values.push_back(data->values[*i]);
  }
  return out;
}

MaybeInts EvaluateReshape(const Output& out, Way way) {
  MaybeInts data = Evaluate(out.node->input(0), way);
  if (!data || out.shape().rank() < 0 || out.shape().rank() > 1) return std::nullopt;
  data->is_scalar = out.shape().rank() == 0;
  if (data->is_scalar && data->values.size() != 1) return std::nullopt;
  return data;
}

MaybeInts EvaluateFill(const Node& node, Way way) {
  MaybeInts dims = Evaluate(node.input(0), way);
  MaybeInts value = Evaluate(node.input(1), way);
  if (!dims || !value || dims->values.size() != 1 || !dims->values[0]) return std::nullopt;
  const int64_t n = *dims->values[0];
  if (n < 0 || n > kMaxElements || value->values.size() != 1) return std::nullopt;
  return Ints{false, std::vector<std::optional<int64_t>>(n, value->values[0])};
}

MaybeInts EvaluateArithmetic(const Node& node, Way way) {
  const std::string& op = node.op();
  auto checked = [](auto builtin) {
    return [builtin](int64_t a, int64_t b) -> std::optional<int64_t> {
      int64_t r;
      return builtin(a, b, &r) ? std::nullopt : std::optional(r);
    };
  };
  if (op == "Add" || op == "AddV2") {
    return EvaluateBinary(node, way, checked([](int64_t a, int64_t b, int64_t* r) {
                            return __builtin_add_overflow(a, b, r);
                          }));
  }
  if (op == "Sub") {
    return EvaluateBinary(node, way, checked([](int64_t a, int64_t b, int64_t* r) {
                            return __builtin_sub_overflow(a, b, r);
                          }));
  }
  if (op == "Mul") {
    return EvaluateBinary(node, way, checked([](int64_t a, int64_t b, int64_t* r) {
                            return __builtin_mul_overflow(a, b, r);
                          }));
  }
  if (op == "FloorDiv") return EvaluateBinary(node, way, FloorDivide);
  if (op == "Maximum") {
    return EvaluateBinary(node, way, [](int64_t a, int64_t b) { return std::max(a, b); });
  }
  if (op == "Minimum") {
    return EvaluateBinary(node, way, [](int64_t a, int64_t b) { return std::min(a, b); });
  }
  return std::nullopt;
}

bool IsPassThrough(const std::string& op) {
  return op == "Identity" || op == "StopGradient" || op == "PreventGradient" || op == "Cast" ||
         op == "EnsureShape" || op == "GuaranteeConst";
}

MaybeInts Evaluate(Output output, Way way) {
  if (!output || way.depth > kMaxDepth || --*way.visits_left < 0) return std::nullopt;
  const DataType type = BaseType(output.dtype());
  if (type != DT_INT32 && type != DT_INT64) return std::nullopt;
  const Node& node = *output.node;
  const std::string& op = node.op();
  for (const Output& in : node.inputs()) {
    if (!in) return std::nullopt;
  }
  ++way.depth;
  if (op == "Const" || op == "HostConst") {
    const Tensor* value = node.FindAttr<Tensor>("value");
    return value ? FromTensor(*value) : std::nullopt;
  }
  if (op == "Shape") return EvaluateShape(node.input(0).shape());
  if (op == "ShapeN") return EvaluateShape(node.input(output.index).shape());
  if (op == "Rank") {
    const int rank = node.input(0).shape().rank();
    return rank < 0 ? std::nullopt : MaybeInts(KnownScalar(rank));
  }
  if (op == "Size") {
    const int64_t n = node.input(0).shape().num_elements();
    return n < 0 ? std::nullopt : MaybeInts(KnownScalar(n));
  }
  if (IsPassThrough(op)) return Evaluate(node.input(0), way);
  if (op == "Pack") return EvaluatePack(node, way);
  if (op == "ConcatV2") return EvaluateConcat(node, way);
  if (op == "StridedSlice") return EvaluateStridedSlice(node, way);
  if (op == "Slice") return EvaluateSlice(node, way);
  if (op == "Range") return EvaluateRange(node, way);
  if (op == "InvertPermutation") return EvaluateInvertPermutation(node, way);
  if (op == "Prod") return EvaluateProd(node, way);
  if (op == "Gather" || op == "GatherV2") return EvaluateGather(node, way);
  if (op == "Reshape" || op == "Squeeze" || op == "ExpandDims") {
    return EvaluateReshape(output, way);
  }
  if (op == "Fill") return EvaluateFill(node, way);
  return EvaluateArithmetic(node, way);
}

MaybeInts Evaluate(Output output) {
  int visits_left = kMaxVisits;
  return Evaluate(output, {.depth = 0, .visits_left = &visits_left});
}

template <typename T>
Tensor ToTensor(const Ints& ints) {
  Tensor t(kDataTypeOf<T>, ints.is_scalar
                               ? TensorShape()
                               : TensorShape({static_cast<int64_t>(ints.values.size())}));
  for (size_t i = 0; i < ints.values.size(); ++i) t.data<T>()[i] = static_cast<T>(*ints.values[i]);
  return t;
}

}  // namespace

std::optional<Tensor> ConstantValue(Output output) {
  if (!output) return std::nullopt;
  if (std::optional<Tensor> value = ConstTensor(output)) return value;
  MaybeInts ints = Evaluate(output);
  if (!ints) return std::nullopt;
  for (const auto& v : ints->values) {
    if (!v) return std::nullopt;
  }
  return BaseType(output.dtype()) == DT_INT32 ? ToTensor<int32_t>(*ints) : ToTensor<int64_t>(*ints);
}

std::optional<PartialShape> ConstantValueAsShape(Output output) {
  MaybeInts ints = Evaluate(output);
  if (!ints || ints->is_scalar) return std::nullopt;
  PartialShape shape = PartialShape::Scalar();
  for (const auto& v : ints->values) shape.AddDim(v && *v >= -1 ? *v : PartialShape::kUnknown);
  return shape;
}

}  // namespace sluice
