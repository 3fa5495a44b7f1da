#include "executor/passes/join_pads.h"

#include <algorithm>

#include "executor/passes/rewrite.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsPad(const Node& node) { return node.op() == "Pad"; }

// A tensor that a Pad puts between zeros.
struct Part {
  Node* pad;
  int axis;  // the one dimension that is padded
  int64_t before, size, after;
};

// The paddings of a Pad of known sizes, before and after each dimension in turn. Null otherwise.
const Tensor* PaddingsOf(const Node& pad) {
  if (!IsPad(pad) || !IsConstant(*pad.input(1).node)) return nullptr;
  const Tensor* paddings = ConstantBehind(pad.input(1));
  const PartialShape& shape = pad.input(0).shape();
  if (paddings == nullptr || !shape.IsFullyDefined()) return nullptr;
  return paddings->num_elements() == 2 * shape.rank() ? paddings : nullptr;
}

std::optional<Part> PartOf(Node* pad) {
  const Tensor* paddings = PaddingsOf(*pad);
  if (paddings == nullptr) return std::nullopt;
  const PartialShape& shape = pad->input(0).shape();
  std::optional<Part> part;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto padding = [&](int i) -> int64_t {
      return paddings->dtype() == DT_INT32 ? paddings->data<int32_t>()[2 * d + i]
                                           : paddings->data<int64_t>()[2 * d + i];
    };
    const int64_t before = padding(0), after = padding(1);
    // No part may be empty: a join of the other parts could be an existing tensor.
    if (before < 0 || after < 0 || shape.dim(d) == 0) return std::nullopt;
    if (before == 0 && after == 0) continue;
    if (part) return std::nullopt;
    part = Part{pad, d, before, shape.dim(d), after};
  }
  return part;
}

bool IsSumOfPads(const Node& node) {
  return node.op() == "AddN" && node.num_inputs() >= 2 &&
         std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](Output in) { return IsPad(*in.node) && in.node->uses().size() == 1; });
}

// Whether the parts have equal sizes, except in the dimension along which they lie.
bool HaveEqualSizes(const Part& a, const Part& b) {
  const PartialShape &of_a = a.pad->input(0).shape(), &of_b = b.pad->input(0).shape();
  if (a.axis != b.axis || of_a.rank() != of_b.rank()) return false;
  for (int d = 0; d < of_a.rank(); ++d) {
    if (d != a.axis && of_a.dim(d) != of_b.dim(d)) return false;
  }
  return a.before + a.size + a.after == b.before + b.size + b.after;
}

// The parts in their order; none if there is a gap or an overlap.
std::vector<Part> PartsOf(const Node& sum) {
  std::vector<Part> parts;
  for (const Output& in : sum.inputs()) {
    const std::optional<Part> part = PartOf(in.node);
    if (!part) return {};
    parts.push_back(*part);
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.before < b.before; });
  int64_t end = 0;
  for (const Part& part : parts) {
    if (part.before != end || !HaveEqualSizes(part, parts[0])) return {};
    end += part.size;
  }
  return parts.back().after == 0 ? parts : std::vector<Part>();
}

absl::StatusOr<Node*> JoinOf(Graph& graph, const Node& sum, const std::vector<Part>& parts) {
  SLUICE_ASSIGN_OR_RETURN(Node* const axis, ConstantBeside(graph, *parts[0].pad->input(1).node,
                                                           StrCat(sum.name(), "/axis"),
                                                           Tensor::Scalar<int32_t>(parts[0].axis)));
  NodeSpec spec;
  spec.name = graph.UniqueName(StrCat(sum.name(), "/joined"));
  spec.op = "ConcatV2";
  for (const Part& part : parts) spec.inputs.push_back(Output(part.pad));
  spec.inputs.push_back(Output(axis));
  spec.control_inputs.assign(sum.control_inputs().begin(), sum.control_inputs().end());
  spec.device = sum.device();
  spec.attrs = {
      {"N", static_cast<int64_t>(parts.size())}, {"T", sum.output_type(0)}, {"Tidx", DT_INT32}};
  spec.at = sum.at();
  SLUICE_ASSIGN_OR_RETURN(Node * join, graph.Add(std::move(spec)));
  join->set_assigned_device(sum.assigned_device());
  join->set_output_shape(0, sum.output_shape(0));
  return join;
}

absl::StatusOr<bool> Join(Graph& graph, Rewriter& rewriter, Node* sum) {
  const std::vector<Part> parts = PartsOf(*sum);
  const auto may_change = [&](const Part& part) { return rewriter.MayChange(*part.pad); };
  if (parts.empty() || !std::all_of(parts.begin(), parts.end(), may_change)) return false;
  SLUICE_ASSIGN_OR_RETURN(Node* const join, JoinOf(graph, *sum, parts));
  for (size_t i = 0; i < parts.size(); ++i) {
    Node* const pad = parts[i].pad;
    SLUICE_ASSIGN_OR_RETURN(const bool done,
                            rewriter.Shorten(join, static_cast<int>(i), {pad->input(0), {pad}}));
    if (done) continue;
    Node* const axis = join->inputs().back().node;
    graph.Remove(join);
    graph.Remove(axis);
    return false;
  }
  SLUICE_RETURN_IF_ERROR(TakePlace(graph, sum, Output(join)));
  for (const Part& part : parts) {
    if (part.pad->uses().empty() && part.pad->control_outputs().empty()) graph.Remove(part.pad);
  }
  return true;
}

}  // namespace

absl::StatusOr<int> JoinPads(Graph& graph, const PassOptions& options) {
  std::vector<Node*> sums;
  for (Node* node : graph.nodes()) {
    if (IsSumOfPads(*node)) sums.push_back(node);
  }
  if (sums.empty()) return 0;  // most graphs; making a Rewriter visits all nodes
  Rewriter rewriter(graph, options.keep);
  int joined = 0;
  for (Node* sum : sums) {
    if (!rewriter.MayChange(*sum)) continue;
    SLUICE_ASSIGN_OR_RETURN(const bool done, Join(graph, rewriter, sum));
    if (done) ++joined;
  }
  return joined;
}

}  // namespace sluice
