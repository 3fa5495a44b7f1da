// Ops that compute sums of products over named axes.
#include <map>
#include <set>

#include "ops/matmul/equation.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/matmul/einsum_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

// Returns the shape of the output, given the size of each label and the dimensions of the ellipsis.
PartialShape OutputShape(const Subscripts& s, const std::map<char, int64_t>& sizes,
                         const PartialShape& ellipsis) {
  if (s.has_ellipsis() && !ellipsis.rank_known()) {
    return PartialShape::UnknownRank();
  }
  PartialShape out = PartialShape::Scalar();
  for (int k = 0; k <= s.named(); ++k) {
    if (k == s.before() && s.has_ellipsis()) out = out.Concatenate(ellipsis);
    if (k == s.named()) continue;
    auto size = sizes.find(s.label(k));
    out.AddDim(size == sizes.end() ? -1 : size->second);
  }
  return out;
}

absl::Status EinsumShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Equation e,
                          ParseEquation(c.attr<std::string>("equation"), c.num_inputs()));
  std::map<char, int64_t> sizes;
  PartialShape ellipsis = PartialShape::Scalar();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Subscripts& s = e.inputs[i];
    const PartialShape& in = c.input(i);
    if (!in.rank_known()) {
      if (s.has_ellipsis()) ellipsis = PartialShape::UnknownRank();
      continue;
    }
    const int named = s.named();
    SLUICE_INVALID_IF(s.has_ellipsis() ? in.rank() < named : in.rank() != named, "Shape must be ",
                      s.has_ellipsis() ? "at least " : "", "rank ", named, " but is rank ",
                      in.rank());
    const int middle = in.rank() - named;
    for (int k = 0; k < named; ++k) {
      const int axis = k < s.before() ? k : k + middle;
      int64_t& size = sizes.try_emplace(s.label(k), -1).first->second;
      SLUICE_ASSIGN_OR_RETURN(size, MergeDim(size, in.dim(axis)));
    }
    if (s.has_ellipsis()) {
      SLUICE_ASSIGN_OR_RETURN(
          ellipsis, BroadcastShapes(ellipsis, PartialShape(in.dims().subspan(s.before(), middle))));
    }
  }
  SLUICE_INVALID_IF(
      !e.output.has_ellipsis() && ellipsis.rank_known() && ellipsis.rank() > 0,
      "expected an equation with ellipsis, got one without ellipsis (...) in the output subscripts "
      "where input(s) have non-empty broadcasting shape ",
      ellipsis.ToString());
  return c.SetOutput(0, OutputShape(e.output, sizes, ellipsis));
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The gradient with respect to an operand is also computed by an equation. If an axis occurs only
// in this operand, the forward equation sums over it, so the result is broadcast along it.
constexpr char kEllipsis[] = "...";

std::set<char> LabelsOf(const std::string& subscripts) {
  std::set<char> labels(subscripts.begin(), subscripts.end());
  labels.erase('.');
  return labels;
}

// Returns the axis of a label. An axis after an ellipsis is counted from the end.
int64_t AxisOf(const std::string& subscripts, char label) {
  const size_t dots = subscripts.find(kEllipsis);
  const size_t at = subscripts.find(label);
  if (dots == std::string::npos || at < dots) return static_cast<int64_t>(at);
  return static_cast<int64_t>(at) - static_cast<int64_t>(subscripts.size());
}

Output OneEinsum(Output x, const std::string& from, const std::string& to) {
  return Einsum({x}, from + "->" + to);
}

// Broadcasts `grad`, whose subscripts are `from`, along the axes `lost` of an input, and permutes
// the result to the order of the input's axes.
Output RepeatLost(Output grad, const std::string& from, const std::string& to, Output to_shape,
                  const std::set<char>& lost) {
  if (lost.empty()) return OneEinsum(grad, from, to);
  Graph& graph = *grad.graph();
  std::string labels(lost.begin(), lost.end());
  OutputList sizes, ones;
  Output to_rank = SizeNode(to_shape);
  for (char label : labels) {
    const int64_t axis = AxisOf(to, label);
    Output index = IndexVector(graph, {axis});
    if (axis < 0) index = Add(index, to_rank);
    sizes.push_back(GatherV2(to_shape, index, IndexScalar(graph, 0)));
    ones.push_back(IndexVector(graph, {1}));
  }
  sizes.push_back(ShapeNode(grad));
  ones.push_back(ShapeNode(grad));
  Output repeated = BroadcastTo(Reshape(grad, Concat(ones, 0)), Concat(sizes, 0));
  return OneEinsum(repeated, labels + from, to);
}

// Returns the gradient with respect to the operand with subscripts `own` of the equation
// "own,other->out".
Output OperandGradient(Output grad, Output other, Output own_shape, const std::string& own,
                       const std::string& other_subscripts, const std::string& out) {
  std::set<char> lost = LabelsOf(own);
  for (char c : out + other_subscripts) lost.erase(c);
  std::string left;
  for (char c : own) {
    if (!lost.count(c)) left += c;
  }
  Output reduced = Einsum({grad, other}, out + "," + other_subscripts + "->" + left);
  return lost.empty() ? reduced : RepeatLost(reduced, left, own, own_shape, lost);
}

// Sums over the axes along which the ellipsis of an operand was broadcast.
Output UndoBroadcast(Output grad, const std::string& own, Output own_shape, Output other_part,
                     Output own_part) {
  const auto start = static_cast<int64_t>(own.find(kEllipsis));
  Output axes = BroadcastGradientArgs(own_part, other_part).r0;
  return Reshape(Sum(grad, Add(axes, IndexScalar(*grad.graph(), start))), own_shape);
}

Output EllipsisPart(Output shape, const std::string& subscripts) {
  const auto start = static_cast<int64_t>(subscripts.find(kEllipsis));
  const auto behind = static_cast<int64_t>(subscripts.size()) - start - 3;
  return PartOf(shape, start, behind == 0 ? kToTheEnd : -behind);
}

void EinsumGradient(Backprop& b) {
  const std::string equation = b.attr<std::string>("equation");
  const size_t arrow = equation.find("->");
  const std::string inputs = equation.substr(0, arrow), out = equation.substr(arrow + 2);
  Output grad = b.Of(0);
  if (b.op().num_inputs() == 1) {
    std::set<char> lost = LabelsOf(inputs);
    for (char c : out) lost.erase(c);
    b.Into(0, RepeatLost(grad, out, inputs, ShapeNode(b.In(0)), lost));
    return;
  }
  const size_t comma = inputs.find(',');
  std::string xs = inputs.substr(0, comma), ys = inputs.substr(comma + 1);
  const bool broadcasts = out.find(kEllipsis) != std::string::npos;
  for (std::string* s : {&xs, &ys}) {
    if (broadcasts && s->find(kEllipsis) == std::string::npos) *s += kEllipsis;
  }
  Output x = ConjOf(b.In(0)), y = ConjOf(b.In(1));
  Output x_shape = ShapeNode(x), y_shape = ShapeNode(y);
  Output grad_x = OperandGradient(grad, y, x_shape, xs, ys, out);
  Output grad_y = OperandGradient(grad, x, y_shape, ys, xs, out);
  if (broadcasts) {
    Output x_part = EllipsisPart(x_shape, xs), y_part = EllipsisPart(y_shape, ys);
    grad_x = UndoBroadcast(grad_x, xs, x_shape, y_part, x_part);
    grad_y = UndoBroadcast(grad_y, ys, y_shape, x_part, y_part);
  }
  b.Into(0, grad_x);
  b.Into(1, grad_y);
}
#endif

OP(Einsum,
   "Computes sums of products by Einstein's convention: `ij,jk->ik` is a matrix product, `ii->` a "
   "trace. Labels are letters. `...` stands for any number of axes that broadcast.")
    .Input("inputs", "N*T")
    .Output("output", "T")
    .Attr("equation", StringAttr())
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(EinsumShape) GRADIENT(EinsumGradient);

}  // namespace
}  // namespace sluice
