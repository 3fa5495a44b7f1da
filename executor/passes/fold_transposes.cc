#include "executor/passes/fold_transposes.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "executor/passes/rewrite.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsMatMul(const Node& node) { return node.op() == "MatMul"; }

// The attribute that transposes operand i of a product. Null if `node` is no product, or if the
// attribute would also conjugate the operand.
const char* TransposesOperand(const Node& node, int i) {
  if (IsMatMul(node)) return i == 0 ? "transpose_a" : "transpose_b";
  if (!node.op().starts_with("BatchMatMul")) return nullptr;
  if (IsComplex(node.input(i).dtype())) return nullptr;
  return i == 0 ? "adj_x" : "adj_y";
}

bool SwapsTheLastTwo(const std::vector<int64_t>& order) {
  const int64_t rank = static_cast<int64_t>(order.size());
  if (rank < 2 || order[rank - 2] != rank - 1) return false;
  for (int64_t d = 0; d < rank - 2; ++d) {
    if (order[d] != d) return false;
  }
  return true;
}

bool IsOperandTransposed(const Node& node, int i) {
  return i < node.num_inputs() && TransposesOperand(node, i) != nullptr &&
         node.input(i).node->op() == "Transpose";
}

absl::StatusOr<bool> FoldOperand(Rewriter& rewriter, Node* node, int i) {
  if (!IsOperandTransposed(*node, i)) return false;
  const char* attr = TransposesOperand(*node, i);
  const bool* transposed = node->FindAttr<bool>(attr);
  Node* transpose = node->input(i).node;
  if (transposed == nullptr) return false;
  const std::optional<std::vector<int64_t>> order =
      ConstantPermutation(transpose->input(1), transpose->input(0).shape().rank());
  if (!order || !SwapsTheLastTwo(*order)) return false;
  // MatMul rejects other ranks, with an error that shows the shape.
  if (IsMatMul(*node) && order->size() != 2) return false;
  SLUICE_ASSIGN_OR_RETURN(const bool folded,
                          rewriter.Shorten(node, i, {transpose->input(0), {transpose}}));
  if (folded) node->SetAttr(attr, !*transposed);
  return folded;
}

}  // namespace

absl::StatusOr<int> FoldTransposes(Graph& graph, const PassOptions& options) {
  const auto reads_transpose = [](const Node* node) {
    return IsOperandTransposed(*node, 0) || IsOperandTransposed(*node, 1);
  };
  // Most graphs have none. An order and a Rewriter look at all of a graph.
  const std::vector<Node*> nodes = graph.nodes();
  if (std::none_of(nodes.begin(), nodes.end(), reads_transpose)) return 0;
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> products, TopologicalOrder(graph));
  std::erase_if(products, std::not_fn(reads_transpose));
  Rewriter rewriter(graph, options.keep);
  int folded = 0;
  for (Node* node : products) {
    if (!rewriter.MayChange(*node)) continue;
    for (int i = 0; i < 2; ++i) {
      SLUICE_ASSIGN_OR_RETURN(const bool done, FoldOperand(rewriter, node, i));
      if (done) ++folded;
    }
  }
  return folded;
}

}  // namespace sluice
