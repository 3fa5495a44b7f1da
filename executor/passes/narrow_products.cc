#include "executor/passes/narrow_products.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "executor/passes/rewrite.h"
#include "executor/passes/unused_nodes.h"
#include "graph/ir/constant.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

struct Columns {
  int64_t first, count;
};

// The nodes from a slice to its product: Identities, which gradients contain, and the product.
using Way = absl::InlinedVector<Node*, 4>;

// Returns the way from the slice. Empty if other nodes need a result on the way.
Way WayToProduct(const Node& slice, const Rewriter& rewriter) {
  Way way;
  for (Node* node = slice.input(0).node;; node = node->input(0).node) {
    way.push_back(node);
    const bool is_product = node->op() == "MatMul";
    if ((!is_product && !OnlyPassesOn(*node)) || node->uses().size() != 1 ||
        node->control_outputs().size() > 1 || !rewriter.MayChange(*node) ||
        node->device() != slice.device() || IsOnABranch(*node)) {
      return {};
    }
    if (is_product) return way;
  }
}

struct ProductSizes {
  int64_t rows, columns;  // -1: unknown rows
};

// Nullopt if the product may fail.
std::optional<ProductSizes> SizesOf(const Node& product) {
  const PartialShape& a = product.input(0).shape();
  const PartialShape& b = product.input(1).shape();
  if (a.rank() != 2 || b.rank() != 2) return std::nullopt;
  const bool turns_a = product.AttrOr<bool>("transpose_a", false);
  const bool turns_b = product.AttrOr<bool>("transpose_b", false);
  const int64_t rows = a.dim(turns_a ? 1 : 0), columns = b.dim(turns_b ? 0 : 1);
  const int64_t depth = a.dim(turns_a ? 0 : 1);
  if (depth < 0 || depth != b.dim(turns_b ? 1 : 0) || columns < 0) return std::nullopt;
  return ProductSizes{rows, columns};
}

std::optional<std::vector<int64_t>> ConstantPair(const Output& x) {
  std::optional<std::vector<int64_t>> ints = ConstantInts(x);
  return ints && ints->size() == 2 ? ints : std::nullopt;
}

bool TakesAllRows(int64_t begin, int64_t size, int64_t rows) {
  return begin == 0 && (size == -1 || (rows >= 0 && size == rows));
}

// The columns of the product that `slice` takes. Nullopt if the slice may fail, or takes only some
// rows or all columns.
std::optional<Columns> ColumnsOf(const Node& slice, const Node& product) {
  const std::optional<std::vector<int64_t>> begin = ConstantPair(slice.input(1));
  const std::optional<std::vector<int64_t>> size = ConstantPair(slice.input(2));
  if (!begin || !size) return std::nullopt;
  const std::optional<ProductSizes> of = SizesOf(product);
  if (!of || !TakesAllRows((*begin)[0], (*size)[0], of->rows)) return std::nullopt;
  const int64_t first = (*begin)[1];
  const int64_t count = (*size)[1] == -1 ? of->columns - first : (*size)[1];
  const bool are_some = first >= 0 && count > 0 && count < of->columns;
  if (!are_some || first > of->columns - count) return std::nullopt;
  return Columns{first, count};
}

// The control inputs of the slice and of the nodes on its way, and the slice's bounds. The bounds
// may be dead although the product is not.
std::vector<Node*> WhatTheyWaitFor(const Node& slice, const Way& way) {
  std::vector<Node*> controls(slice.control_inputs().begin(), slice.control_inputs().end());
  for (const Node* node : way) {
    controls.insert(controls.end(), node->control_inputs().begin(), node->control_inputs().end());
  }
  for (const int i : {1, 2}) {
    Node* const bound = slice.input(i).node;
    const bool is_always_there = IsConstant(*bound) && bound->control_inputs().empty();
    if (!is_always_there) controls.push_back(bound);
  }
  std::sort(controls.begin(), controls.end());
  controls.erase(std::unique(controls.begin(), controls.end()), controls.end());
  return controls;
}

// Whether the narrow product could read a variable after an update for which the whole product does
// not wait.
bool MayReadLater(const Node& slice, const Way& way, const Rewriter& rewriter) {
  const Node& product = *way.back();
  const bool reads_variable = rewriter.MayLieInVariable(*product.input(0).node) ||
                              rewriter.MayLieInVariable(*product.input(1).node);
  if (!reads_variable) return false;
  const auto own = product.control_inputs();
  const std::vector<Node*> all = WhatTheyWaitFor(slice, way);
  return std::any_of(all.begin(), all.end(), [&](const Node* before) {
    return std::find(own.begin(), own.end(), before) == own.end();
  });
}

absl::StatusOr<Node*> ProductOf(Graph& graph, const Node& slice, const Way& way,
                                const Columns& columns) {
  const Node& product = *way.back();
  NodeSpec spec;
  spec.name = graph.UniqueName(StrCat(product.name(), "/columns"));
  spec.op = "_MatMulColumns";
  spec.inputs = {product.input(0), product.input(1)};
  spec.control_inputs = WhatTheyWaitFor(slice, way);
  spec.attrs = {{"first", columns.first},
                {"columns", columns.count},
                {"transpose_a", product.AttrOr<bool>("transpose_a", false)},
                {"transpose_b", product.AttrOr<bool>("transpose_b", false)},
                {"T", product.output_type(0)}};
  return AddBeside(graph, product, std::move(spec), slice.output_shape(0));
}

}  // namespace

absl::StatusOr<int> NarrowProducts(Graph& graph, const PassOptions& options) {
  if (OpRegistry::Global().Find("_MatMulColumns") == nullptr) return 0;
  std::vector<Node*> slices;
  for (Node* node : graph.nodes()) {
    if (node->op() == "Slice") slices.push_back(node);
  }
  if (slices.empty()) return 0;  // most graphs; making a Rewriter visits all nodes
  const Rewriter rewriter(graph, options.keep);
  int narrowed = 0;
  for (Node* slice : slices) {
    const Way way = WayToProduct(*slice, rewriter);
    if (way.empty() || !rewriter.MayChange(*slice)) continue;
    const std::optional<Columns> columns = ColumnsOf(*slice, *way.back());
    if (!columns || MayReadLater(*slice, way, rewriter)) continue;
    SLUICE_ASSIGN_OR_RETURN(Node* const narrow, ProductOf(graph, *slice, way, *columns));
    SLUICE_RETURN_IF_ERROR(TakePlace(graph, slice, Output(narrow)));
    for (Node* node : way) RemoveIfUnused(graph, options, node);
    ++narrowed;
  }
  return narrowed;
}

}  // namespace sluice
