#include "graph/tensor/shape.h"

#include "absl/status/status.h"
#include "graph/strings.h"
#include "graph/tensor/sizes.h"

namespace sluice {

int64_t MultiplyWithoutOverflow(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

TensorShape::TensorShape(std::initializer_list<int64_t> dims) : dims_(dims) { Recount(); }
TensorShape::TensorShape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {
  Recount();
}

absl::StatusOr<TensorShape> TensorShape::Make(absl::Span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        StrCat("a shape has at most ", kMaxRank, " dimensions, got ", dims.size()));
  }
  int64_t product = 1;
  for (int64_t d : dims) {
    if (d < 0) {
      return absl::InvalidArgumentError(StrCat("Dimension ", d, " must be >= 0"));
    }
    product = MultiplyWithoutOverflow(product, d);
    if (product < 0) {
      return absl::InvalidArgumentError(
          StrCat("shape ", PartialShape(dims).ToString(), " has too many elements"));
    }
  }
  return TensorShape(dims);
}

void TensorShape::Recount() {
  num_elements_ = 1;
  for (int64_t d : dims_) num_elements_ = SaturatedProduct(num_elements_, d);
}
void TensorShape::AddDim(int64_t size) {
  dims_.push_back(size);
  num_elements_ = SaturatedProduct(num_elements_, size);
}
void TensorShape::InsertDim(int i, int64_t size) {
  dims_.insert(dims_.begin() + i, size);
  num_elements_ = SaturatedProduct(num_elements_, size);
}
void TensorShape::RemoveDim(int i) {
  dims_.erase(dims_.begin() + i);
  Recount();
}
void TensorShape::set_dim(int i, int64_t size) {
  dims_[i] = size;
  Recount();
}

std::string TensorShape::ToString() const { return PartialShape(*this).ToString(); }

PartialShape::PartialShape(std::initializer_list<int64_t> dims) : rank_known_(true), dims_(dims) {}
PartialShape::PartialShape(absl::Span<const int64_t> dims)
    : rank_known_(true), dims_(dims.begin(), dims.end()) {}
PartialShape::PartialShape(const TensorShape& shape) : PartialShape(shape.dims()) {}

PartialShape PartialShape::UnknownOfRank(int rank) {
  PartialShape s = Scalar();
  s.dims_.assign(rank, kUnknown);
  return s;
}

bool PartialShape::IsFullyDefined() const {
  if (!rank_known_) return false;
  for (int64_t d : dims_) {
    if (d < 0) return false;
  }
  return true;
}

int64_t PartialShape::num_elements() const {
  if (!IsFullyDefined()) return -1;
  int64_t product = 1;
  for (int64_t d : dims_) {
    product = MultiplyWithoutOverflow(product, d);
    if (product < 0) return -1;
  }
  return product;
}

bool PartialShape::MayBe(bool rank_known, absl::Span<const int64_t> dims) const {
  if (!rank_known_ || !rank_known) return true;
  if (dims_.size() != dims.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && dims[i] >= 0 && dims_[i] != dims[i]) return false;
  }
  return true;
}

absl::StatusOr<PartialShape> PartialShape::MergeWith(const PartialShape& o) const {
  if (!rank_known_) return o;
  if (!o.rank_known_) return *this;
  if (rank() != o.rank()) {
    return absl::InvalidArgumentError(
        StrCat("Shapes must be equal rank, but are ", rank(), " and ", o.rank()));
  }
  PartialShape merged = *this;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (merged.dims_[i] < 0) merged.dims_[i] = o.dims_[i];
    if (o.dims_[i] < 0 || o.dims_[i] == merged.dims_[i]) continue;
    return absl::InvalidArgumentError(
        StrCat("Dimension ", i, " in both shapes must be equal, but are ", dims_[i], " and ",
               o.dims_[i], ". Shapes are ", ToString(), " and ", o.ToString(), "."));
  }
  return merged;
}

PartialShape PartialShape::Concatenate(const PartialShape& o) const {
  if (!rank_known_ || !o.rank_known_) return UnknownRank();
  PartialShape joined = *this;
  joined.dims_.insert(joined.dims_.end(), o.dims_.begin(), o.dims_.end());
  return joined;
}

std::string PartialShape::ToString() const {
  if (!rank_known_) return "<unknown>";
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ",";
    text += dims_[i] < 0 ? "?" : StrCat(dims_[i]);
  }
  return text + "]";
}

}  // namespace sluice
