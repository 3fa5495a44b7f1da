#include "executor/passes/view_sizes.h"

#include <algorithm>

#include "executor/passes/rewrite.h"

namespace sluice {
namespace {

// The product of the sizes that are numbers, and the others.
struct Factors {
  int64_t known = 1;  // -1: too large
  ViewSizes others;
};

Factors FactorsOf(absl::Span<const int64_t> sizes) {
  Factors factors;
  for (int64_t size : sizes) {
    if (size < 0) {
      factors.others.push_back(size);
    } else if (factors.known >= 0) {
      factors.known = MultiplyWithoutOverflow(factors.known, size);
    }
  }
  return factors;
}

// What is left of `in` for a size of -1 beside sizes whose product is `known` > 0.
std::optional<int64_t> Rest(const Factors& in, int64_t known) {
  if (in.known % known != 0) return std::nullopt;
  if (in.others.empty() || in.known == 0) return in.known / known;
  return in.others.size() == 1 && in.known == known ? in.others[0] : kAnySize;
}

std::optional<ViewSizes> AfterReshape(const Node& node, const ViewSizes& in) {
  const std::optional<std::vector<int64_t>> wanted = ConstantInts(node.input(1));
  if (!wanted || wanted->size() > TensorShape::kMaxRank) return std::nullopt;
  ViewSizes out(wanted->begin(), wanted->end());
  const Factors from = FactorsOf(in), to = FactorsOf(out);
  if (from.known < 0 || to.known < 0 || to.others.size() > 1) return std::nullopt;
  if (to.others.empty()) {
    if (!from.others.empty() || from.known != to.known) return std::nullopt;
    return out;
  }
  // Beside a size of 0, what -1 stands for follows from other sizes than their product.
  if (to.others[0] != -1 || to.known == 0) return std::nullopt;
  const std::optional<int64_t> rest = Rest(from, to.known);
  if (!rest) return std::nullopt;
  *std::find(out.begin(), out.end(), -1) = *rest;
  return out;
}

std::optional<ViewSizes> AfterExpandDims(const Node& node, ViewSizes in) {
  const std::optional<std::vector<int64_t>> dim = ConstantInts(node.input(1));
  const int64_t rank = static_cast<int64_t>(in.size());
  if (!dim || dim->size() != 1 || (*dim)[0] < -rank - 1 || (*dim)[0] > rank) return std::nullopt;
  const int64_t at = (*dim)[0] < 0 ? (*dim)[0] + rank + 1 : (*dim)[0];
  in.insert(in.begin() + at, 1);
  return in;
}

std::optional<ViewSizes> AfterSqueeze(const Node& node, const ViewSizes& in) {
  const auto* dims = node.FindAttr<std::vector<int64_t>>("squeeze_dims");
  const int64_t rank = static_cast<int64_t>(in.size());
  if (dims == nullptr) return std::nullopt;
  std::vector<bool> goes(rank);
  for (int64_t d : *dims) {
    if (d < -rank || d >= rank || in[d < 0 ? d + rank : d] != 1) return std::nullopt;
    goes[d < 0 ? d + rank : d] = true;
  }
  ViewSizes out;
  for (int64_t d = 0; d < rank; ++d) {
    if (dims->empty() && in[d] < 0) return std::nullopt;  // it may be 1
    if (!goes[d] && !(dims->empty() && in[d] == 1)) out.push_back(in[d]);
  }
  return out;
}

}  // namespace

std::optional<ViewSizes> SizesOf(const PartialShape& shape) {
  if (!shape.rank_known()) return std::nullopt;
  ViewSizes sizes;
  for (int d = 0; d < shape.rank(); ++d) {
    sizes.push_back(shape.dim(d) < 0 ? SizeOfDim(d) : shape.dim(d));
  }
  return sizes;
}

bool SameSizes(const ViewSizes& a, const ViewSizes& b) {
  return a == b && std::find(a.begin(), a.end(), kAnySize) == a.end();
}

bool IsView(const Node& node) {
  return node.op() == "Reshape" || node.op() == "ExpandDims" || node.op() == "Squeeze";
}

std::optional<ViewSizes> SizesAfter(const Node& view, const ViewSizes& in) {
  if (view.op() == "Reshape") return AfterReshape(view, in);
  if (view.op() == "ExpandDims") return AfterExpandDims(view, in);
  return AfterSqueeze(view, in);
}

}  // namespace sluice
