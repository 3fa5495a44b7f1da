#include <algorithm>
#include <iterator>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

using ElementList = TypeList<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

// The sets in the rows of a tensor, which are sorted and have no duplicates.
template <typename T>
struct Sets {
  std::vector<int64_t> groups;       // the shape without its last dimension
  std::vector<std::vector<T>> rows;  // in row-major order of the groups
};

template <typename T>
void MakeSet(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <typename T>
absl::StatusOr<Sets<T>> DenseSets(const Tensor& t) {
  SLUICE_INVALID_IF(t.rank() < 2, "Shape ", t.shape().ToString(), " has rank ", t.rank(), " < 2");
  Sets<T> sets;
  sets.groups.assign(t.shape().dims().begin(), t.shape().dims().end() - 1);
  int64_t count = 1;
  for (int64_t n : sets.groups) count = SaturatedProduct(count, n);
  const int64_t length = t.dim(t.rank() - 1);
  SLUICE_RETURN_IF_ERROR(CheckRoom(count, sizeof(std::vector<T>), "sets"));
  sets.rows.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const T* row = t.data<T>() + i * length;
    sets.rows[static_cast<size_t>(i)].assign(row, row + length);
    MakeSet(sets.rows[static_cast<size_t>(i)]);
  }
  return sets;
}

std::string IndexText(const int64_t* at, int64_t rank) {
  std::string text = "[";
  for (int64_t d = 0; d < rank; ++d) StrAppend(&text, d == 0 ? "" : ",", at[d]);
  return text + "]";
}

absl::Status CheckForm(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  SLUICE_INVALID_IF(indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1,
                    "expected sparse indices as a matrix, values and shape as vectors, got ",
                    indices.shape().ToString(), ", ", values.shape().ToString(), " and ",
                    shape.shape().ToString());
  SLUICE_INVALID_IF(indices.dim(0) != values.dim(0),
                    "indices and values rows (indexing dimension) must match. (indices = ",
                    indices.dim(0), ", values = ", values.dim(0), ")");
  SLUICE_INVALID_IF(indices.dim(1) != shape.dim(0), "Index rank ", indices.dim(1),
                    " and shape rank ", shape.dim(0), " do not match.");
  SLUICE_INVALID_IF(shape.dim(0) < 2, "Invalid rank ", shape.dim(0), ".");
  return absl::OkStatus();
}

// Checks that indices are inside the shape. If `validates` is true, also checks that they are
// sorted and have no duplicates.
absl::Status CheckIndices(const Tensor& indices, const Tensor& shape, bool validates) {
  const int64_t rank = shape.dim(0);
  const int64_t* size = shape.data<int64_t>();
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t* at = indices.data<int64_t>() + i * rank;
    for (int64_t d = 0; d < rank; ++d) {
      if (at[d] >= 0 && at[d] < size[d]) continue;
      if (!validates) {
        return absl::InternalError(
            StrCat("indices[", i, ", ", d, "] expected < ", size[d], ", got ", at[d], "."));
      }
      return InvalidArgument("indices[", i, "] = ", IndexText(at, rank),
                             " is out of bounds: need 0 <= index < ", IndexText(size, rank));
    }
    if (!validates || i == 0 || std::lexicographical_compare(at - rank, at, at, at + rank)) {
      continue;
    }
    const bool repeated = std::equal(at - rank, at, at);
    return InvalidArgument(
        "indices[", i, "] = ", IndexText(at, rank),
        repeated ? " is repeated" : " is out of order. Many sparse ops require sorted indices.");
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<Sets<T>> SparseSets(const Tensor& indices, const Tensor& values, const Tensor& shape,
                                   bool validates) {
  SLUICE_RETURN_IF_ERROR(CheckForm(indices, values, shape));
  SLUICE_RETURN_IF_ERROR(CheckIndices(indices, shape, validates));
  const int64_t rank = shape.dim(0);
  Sets<T> sets;
  sets.groups.assign(shape.data<int64_t>(), shape.data<int64_t>() + rank - 1);
  SLUICE_ASSIGN_OR_RETURN(const TensorShape groups, TensorShape::Make(sets.groups));
  // Checks the shape first, so that a hostile one does not exhaust the memory.
  SLUICE_RETURN_IF_ERROR(CheckRoom(groups.num_elements(), sizeof(std::vector<T>), "sets"));
  sets.rows.resize(static_cast<size_t>(groups.num_elements()));
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t* at = indices.data<int64_t>() + i * rank;
    int64_t row = 0;
    for (int64_t d = 0; d + 1 < rank; ++d) row = row * sets.groups[static_cast<size_t>(d)] + at[d];
    sets.rows[static_cast<size_t>(row)].push_back(values.data<T>()[i]);
  }
  for (std::vector<T>& row : sets.rows) MakeSet(row);
  return sets;
}

enum class SetOperation { kAMinusB, kBMinusA, kIntersection, kUnion };

absl::StatusOr<SetOperation> OperationOf(const std::string& text) {
  std::string name = text;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  if (name == "a-b") return SetOperation::kAMinusB;
  if (name == "b-a") return SetOperation::kBMinusA;
  if (name == "intersection") return SetOperation::kIntersection;
  if (name == "union") return SetOperation::kUnion;
  return InvalidArgument("Invalid set_operation ", text, ".");
}

template <typename T>
std::vector<T> Combine(SetOperation op, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out;
  auto to = std::back_inserter(out);
  switch (op) {
    case SetOperation::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case SetOperation::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

template <typename T>
absl::Status SetSparseOutput(KernelContext& c, const Sets<T>& sets) {
  const auto rank = static_cast<int64_t>(sets.groups.size()) + 1;
  int64_t count = 0, longest = 0;
  for (const std::vector<T>& row : sets.rows) {
    count += static_cast<int64_t>(row.size());
    longest = std::max(longest, static_cast<int64_t>(row.size()));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {count, rank}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {count}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {rank}));
  std::copy(sets.groups.begin(), sets.groups.end(), shape->data<int64_t>());
  shape->data<int64_t>()[rank - 1] = longest;
  int64_t* at = indices->data<int64_t>();
  T* value = values->data<T>();
  for (size_t row = 0; row < sets.rows.size(); ++row) {
    for (size_t k = 0; k < sets.rows[row].size(); ++k) {
      auto rest = static_cast<int64_t>(row);
      for (int64_t d = rank - 2; d >= 0; --d) {
        const int64_t size = sets.groups[static_cast<size_t>(d)];
        at[d] = rest % size;
        rest /= size;
      }
      at[rank - 1] = static_cast<int64_t>(k);
      at += rank;
      *value++ = sets.rows[row][k];
    }
  }
  return absl::OkStatus();
}

std::string GroupsText(const std::vector<int64_t>& groups) {
  return TensorShape(absl::MakeConstSpan(groups)).ToString();
}

enum class Form { kDense, kSparse };

template <typename T, Form kFirst, Form kSecond>
class SetOperationKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const SetOperation op,
                            OperationOf(init.attr<std::string>("set_operation")));
    return std::unique_ptr<Kernel>(new SetOperationKernel(op, init.attr<bool>("validate_indices")));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const Sets<T> a, Read<kFirst>(c, 0));
    SLUICE_ASSIGN_OR_RETURN(const Sets<T> b, Read<kSecond>(c, kFirst == Form::kDense ? 1 : 3));
    SLUICE_INVALID_IF(a.groups != b.groups, "Mismatched shapes ", GroupsText(a.groups), " vs ",
                      GroupsText(b.groups));
    Sets<T> result{a.groups, {}};
    result.rows.reserve(a.rows.size());
    for (size_t i = 0; i < a.rows.size(); ++i) {
      result.rows.push_back(Combine(op_, a.rows[i], b.rows[i]));
    }
    return SetSparseOutput(c, result);
  }

 private:
  SetOperationKernel(SetOperation op, bool validates) : op_(op), validates_(validates) {}

  template <Form kForm>
  absl::StatusOr<Sets<T>> Read(KernelContext& c, int i) const {
    if constexpr (kForm == Form::kDense) {
      return DenseSets<T>(c.input(i));
    } else {
      return SparseSets<T>(c.input(i), c.input(i + 1), c.input(i + 2), validates_);
    }
  }

  const SetOperation op_;
  const bool validates_;
};
template <typename T>
using DenseToDenseKernel = SetOperationKernel<T, Form::kDense, Form::kDense>;
template <typename T>
using DenseToSparseKernel = SetOperationKernel<T, Form::kDense, Form::kSparse>;
template <typename T>
using SparseToSparseKernel = SetOperationKernel<T, Form::kSparse, Form::kSparse>;
KERNELS(DenseToDenseSetOperation, "T", DenseToDenseKernel, ElementList);
KERNELS(DenseToSparseSetOperation, "T", DenseToSparseKernel, ElementList);
KERNELS(SparseToSparseSetOperation, "T", SparseToSparseKernel, ElementList);

template <typename T>
absl::Status SetSize(KernelContext& c, Attr<bool, "validate_indices"> validates) {
  SLUICE_ASSIGN_OR_RETURN(const Sets<T> sets,
                          SparseSets<T>(c.input(0), c.input(1), c.input(2), validates));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape(sets.groups)));
  for (size_t i = 0; i < sets.rows.size(); ++i) {
    out->data<int32_t>()[i] = static_cast<int32_t>(sets.rows[i].size());
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(SetSize, "T", SetSize, ElementList);

}  // namespace
}  // namespace sluice
