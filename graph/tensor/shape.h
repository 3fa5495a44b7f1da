// Shapes: the sizes of a tensor's dimensions (TensorShape), and those of them that are known before
// a step runs (PartialShape).
//
// The sizes of a TensorShape must be >= 0, and their product must fit in int64. Only Make checks
// this.
// Thread safety: concurrent reads are safe. A write needs exclusive access.
#ifndef SLUICE_GRAPH_TENSOR_SHAPE_H_
#define SLUICE_GRAPH_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sluice {

class TensorShape {
 public:
  static constexpr int kMaxRank = 254;

  TensorShape() = default;  // a scalar
  TensorShape(const TensorShape&) = default;
  // Copies to a temporary and moves it. This is faster: InlinedVector moves up to four sizes as one
  // block of bytes, but its copy assignment copies them in a loop.
  TensorShape& operator=(const TensorShape& o) { return *this = TensorShape(o); }
  // The moved-from shape is a scalar.
  TensorShape(TensorShape&& o) noexcept
      : dims_(std::move(o.dims_)), num_elements_(std::exchange(o.num_elements_, 1)) {
    o.dims_.clear();
  }
  TensorShape& operator=(TensorShape&& o) noexcept {
    if (this == &o) return *this;
    dims_ = std::move(o.dims_);
    num_elements_ = std::exchange(o.num_elements_, 1);
    o.dims_.clear();
    return *this;
  }
  // For sizes that are known to be valid, such as literals or those of a tensor. Otherwise use
  // Make.
  TensorShape(std::initializer_list<int64_t> dims);  // NOLINT: `{2, 3}` is a shape
  explicit TensorShape(absl::Span<const int64_t> dims);

  // INVALID_ARGUMENT if a size is negative, there are more than kMaxRank dimensions, or the product
  // does not fit in int64.
  static absl::StatusOr<TensorShape> Make(absl::Span<const int64_t> dims);

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  absl::Span<const int64_t> dims() const { return dims_; }
  // The product of the sizes, 1 for a scalar. INT64_MAX if the product does not fit in int64. Make
  // never returns such a shape.
  int64_t num_elements() const { return num_elements_; }
  bool IsScalar() const { return dims_.empty(); }
  bool IsVector() const { return dims_.size() == 1; }
  bool IsMatrix() const { return dims_.size() == 2; }

  // The caller ensures that the product of the sizes still fits in int64.
  void AddDim(int64_t size);
  void InsertDim(int i, int64_t size);
  void RemoveDim(int i);
  void set_dim(int i, int64_t size);

  bool operator==(const TensorShape& o) const { return dims_ == o.dims_; }
  std::string ToString() const;  // "[2,3]", "[]"

 private:
  void Recount();
  absl::InlinedVector<int64_t, 4> dims_;
  int64_t num_elements_ = 1;
};

// A shape whose rank may be unknown. If the rank is known, each size may be unknown (-1).
class PartialShape {
 public:
  static constexpr int64_t kUnknown = -1;

  PartialShape() = default;                           // rank unknown
  PartialShape(std::initializer_list<int64_t> dims);  // NOLINT: `{-1, 3}` is a shape
  explicit PartialShape(absl::Span<const int64_t> dims);
  PartialShape(const TensorShape& shape);  // NOLINT: a known shape is a partial one

  static PartialShape UnknownRank() { return PartialShape(); }
  static PartialShape Scalar() { return PartialShape(std::initializer_list<int64_t>{}); }
  static PartialShape Vector(int64_t n = kUnknown) { return PartialShape({n}); }
  static PartialShape Matrix(int64_t r = kUnknown, int64_t c = kUnknown) {
    return PartialShape({r, c});
  }
  static PartialShape UnknownOfRank(int rank);

  bool rank_known() const { return rank_known_; }
  int rank() const { return rank_known_ ? static_cast<int>(dims_.size()) : -1; }
  // -1 if the size or the rank is unknown.
  int64_t dim(int i) const { return rank_known_ ? dims_[i] : kUnknown; }
  absl::Span<const int64_t> dims() const { return dims_; }
  bool IsFullyDefined() const;
  int64_t num_elements() const;  // -1 if a size is unknown or the product exceeds int64
  // Must be fully defined.
  TensorShape AsShape() const { return TensorShape(dims_); }

  void AddDim(int64_t size) { dims_.push_back(size); }
  void set_dim(int i, int64_t size) { dims_[i] = size; }

  // Whether a tensor could have both shapes: ranks and sizes that are known in both are equal.
  bool IsCompatibleWith(const PartialShape& o) const { return MayBe(o.rank_known_, o.dims_); }
  bool IsCompatibleWith(const TensorShape& o) const { return MayBe(true, o.dims()); }
  // Returns the shape with all sizes that are known in *this or in `o`. INVALID_ARGUMENT if
  // IsCompatibleWith(o) is false.
  absl::StatusOr<PartialShape> MergeWith(const PartialShape& o) const;
  // Returns the dimensions of *this, followed by those of `o`. The rank is unknown if the rank of
  // one of them is.
  PartialShape Concatenate(const PartialShape& o) const;

  bool operator==(const PartialShape& o) const = default;
  std::string ToString() const;  // "[2,?]", "[]", "<unknown>"

 private:
  bool MayBe(bool rank_known, absl::Span<const int64_t> dims) const;
  bool rank_known_ = false;
  absl::InlinedVector<int64_t, 4> dims_;
};

// Returns the product of two sizes >= 0, or -1 if the product does not fit in int64.
int64_t MultiplyWithoutOverflow(int64_t a, int64_t b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_SHAPE_H_
