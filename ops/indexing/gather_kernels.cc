#include <algorithm>
#include <type_traits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/copy_rows.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/row_index.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// The sizes of a Gather, whose params are seen as [batch, outer, rows, inner], indices as [batch,
// count], and result as [batch, outer, count, inner].
struct GatherPlan {
  int64_t batch = 1;
  int64_t outer = 1;
  int64_t rows = 0;
  int64_t inner = 1;
  int64_t count = 1;
  TensorShape result;
};

// Copies the rows that `count` indices select from one slice.
template <typename T, typename Index>
void GatherSlice(const GatherPlan& p, const T* slice, const Index* indices, int64_t count, T* to) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (p.inner > 1) {
      return CopyRowsOfBytes(
          reinterpret_cast<const char*>(slice), static_cast<size_t>(p.inner) * sizeof(T),
          [&](int64_t i) { return static_cast<int64_t>(indices[i]); }, 0, count,
          reinterpret_cast<char*>(to));
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    const T* from = slice + static_cast<int64_t>(indices[i]) * p.inner;
    if (p.inner == 1) {
      to[i] = *from;
    } else {
      std::copy_n(from, p.inner, to + i * p.inner);
    }
  }
}

template <typename T, typename Index>
void GatherRows(KernelContext& c, const GatherPlan& p, const T* params, const Index* indices,
                T* to) {
  const double cost = 3 + 0.1 * static_cast<double>(p.inner * static_cast<int64_t>(sizeof(T)));
  c.ParallelFor(p.batch * p.outer * p.count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin, last; k < end; k = last) {
      const int64_t slice = k / p.count;
      last = std::min(end, (slice + 1) * p.count);
      GatherSlice(p, params + slice * p.rows * p.inner,
                  indices + slice / p.outer * p.count + k % p.count, last - k, to + k * p.inner);
    }
  });
}

// Checks axis and batch_dims. Replaces a negative one by the dimension that it counts to from the
// end.
absl::Status CheckAxisAndBatch(const Tensor& params, const Tensor& indices, int64_t& axis,
                               int64_t& batch_dims) {
  SLUICE_INVALID_IF(params.rank() < 1, "params must be at least 1 dimensional");
  SLUICE_INVALID_IF(axis < -params.rank() || axis >= params.rank(), "Expected axis in the range [",
                    -params.rank(), ", ", params.rank(), "), but got ", axis);
  if (axis < 0) axis += params.rank();
  SLUICE_INVALID_IF(batch_dims < -indices.rank() || batch_dims > indices.rank(),
                    "Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(),
                    "], but got ", batch_dims);
  if (batch_dims < 0) batch_dims += indices.rank();
  SLUICE_INVALID_IF(batch_dims >= params.rank(), "batch_dims (", batch_dims,
                    ") must be less than rank(params) (", params.rank(), ").");
  SLUICE_INVALID_IF(axis < batch_dims, "batch_dims (", batch_dims,
                    ") must be less than or equal to axis (", axis, ").");
  return absl::OkStatus();
}

absl::StatusOr<GatherPlan> PlanGather(const Tensor& params, const Tensor& indices, int64_t axis,
                                      int64_t batch_dims) {
  SLUICE_RETURN_IF_ERROR(CheckAxisAndBatch(params, indices, axis, batch_dims));
  GatherPlan p;
  for (int d = 0; d < batch_dims; ++d) {
    SLUICE_INVALID_IF(params.dim(d) != indices.dim(d), "params.shape[", d, "]: ", params.dim(d),
                      " should be equal to indices.shape[", d, "]: ", indices.dim(d));
    p.batch = SaturatedProduct(p.batch, params.dim(d));
  }
  absl::InlinedVector<int64_t, 8> dims;
  for (int d = 0; d < axis; ++d) {
    dims.push_back(params.dim(d));
    if (d >= batch_dims) p.outer = SaturatedProduct(p.outer, params.dim(d));
  }
  for (int d = static_cast<int>(batch_dims); d < indices.rank(); ++d) {
    dims.push_back(indices.dim(d));
    p.count = SaturatedProduct(p.count, indices.dim(d));
  }
  p.rows = params.dim(static_cast<int>(axis));
  for (int d = static_cast<int>(axis) + 1; d < params.rank(); ++d) {
    dims.push_back(params.dim(d));
    p.inner = SaturatedProduct(p.inner, params.dim(d));
  }
  SLUICE_ASSIGN_OR_RETURN(p.result, TensorShape::Make(dims));
  return p;
}

absl::Status Gather(KernelContext& c, int64_t axis, int64_t batch_dims) {
  const Tensor& params = c.input(0);
  const Tensor& indices = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const GatherPlan p, PlanGather(params, indices, axis, batch_dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, p.result));
  if (p.result.num_elements() == 0) return absl::OkStatus();
  return WithIndices(indices, [&](const auto* index) -> absl::Status {
    const int64_t bad = FirstOutside(index, indices.num_elements(), p.rows);
    if (bad >= 0) {
      const std::string at = PositionText(indices.shape(), bad);
      return InvalidArgument("indices", at.empty() ? "" : "[", at, at.empty() ? "" : "]", " = ",
                             static_cast<int64_t>(index[bad]), " is not in [0, ", p.rows, ")");
    }
    WithElement(params.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      GatherRows(c, p, static_cast<const T*>(params.raw()), index, static_cast<T*>(out->raw()));
    });
    return absl::OkStatus();
  });
}

absl::Status GatherFirst(KernelContext& c) { return Gather(c, 0, 0); }

absl::Status GatherV2(KernelContext& c, Attr<int64_t, "batch_dims"> batch_dims) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(2), 0, "axis must be scalar, got shape "));
  return Gather(c, IntAt(c.input(2), 0), batch_dims);
}

// Returns the error for index `bad`, which is outside the first `depth` dimensions.
absl::Status BadIndex(const KernelContext& c, const Tensor& params, const Tensor& indices,
                      int64_t bad, int64_t depth) {
  std::string text;
  for (int64_t d = 0; d < depth; ++d) {
    StrAppend(&text, d > 0 ? ", " : "", IntAt(indices, bad * depth + d));
  }
  TensorShape prefix = indices.shape();
  prefix.RemoveDim(prefix.rank() - 1);
  const std::string at = PositionText(prefix, bad);
  return InvalidArgument("indices", at.empty() ? "" : "[", at, at.empty() ? "" : "]", " = [", text,
                         "] does not index into param shape ", params.shape().ToString(),
                         ", node name: ", c.name());
}

class GatherNdKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const std::string policy = init.AttrOr<std::string>("bad_indices_policy", "");
    auto kernel = std::make_unique<GatherNdKernel>();
    kernel->ignore_ = policy == "IGNORE";
    SLUICE_INVALID_IF(
        !policy.empty() && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE",
        "Unknown bad indices handling attribute: ", policy);
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  absl::Status Compute(KernelContext& c) override {
    const Tensor& params = c.input(0);
    const Tensor& indices = c.input(1);
    SLUICE_INVALID_IF(params.rank() < 1, "params must be at least a vector");
    SLUICE_INVALID_IF(indices.rank() < 1, "indices must be at least a vector");
    const int64_t depth = indices.dim(indices.rank() - 1);
    SLUICE_INVALID_IF(depth > params.rank(),
                      "index innermost dimension length must be <= params rank; saw: ", depth,
                      " vs. ", params.rank());
    absl::InlinedVector<int64_t, 8> dims(indices.shape().dims().begin(),
                                         indices.shape().dims().end() - 1);
    int64_t count = 1, inner = 1;
    for (int64_t d : dims) count = SaturatedProduct(count, d);
    for (int d = static_cast<int>(depth); d < params.rank(); ++d) {
      dims.push_back(params.dim(d));
      inner = SaturatedProduct(inner, params.dim(d));
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_INVALID_IF(count > 0 && params.num_elements() == 0,
                      "Requested more than 0 entries, but params is empty.  Params shape: ",
                      params.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensor rows, Rows(c, params, indices, count, depth));
    const Tensor zero = ZeroElement(params.dtype(), *c.step().allocator);
    WithElement(params.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      CopyRows(c, static_cast<const T*>(params.raw()), rows.data<int64_t>(), count, inner,
               *static_cast<const T*>(zero.raw()), static_cast<T*>(out->raw()));
    });
    return absl::OkStatus();
  }

 private:
  // Returns, for each row of `indices`, which slice of params it selects, or -1 if the row is out
  // of range and the policy is to ignore such rows.
  absl::StatusOr<Tensor> Rows(KernelContext& c, const Tensor& params, const Tensor& indices,
                              int64_t count, int64_t depth) const {
    SLUICE_ASSIGN_OR_RETURN(Tensor rows, c.AllocateTemp(DT_INT64, {count}));
    int64_t* row = rows.data<int64_t>();
    const int64_t bad = WithIndices(indices, [&](const auto* index) -> int64_t {
      for (int64_t i = 0; i < count; ++i) {
        int64_t at = 0;
        bool inside = true;
        for (int d = 0; d < depth; ++d) {
          const int64_t x = static_cast<int64_t>(index[i * depth + d]);
          inside = inside && x >= 0 && x < params.dim(d);
          if (inside) at = at * params.dim(d) + x;
        }
        if (!inside && !ignore_) return i;
        row[i] = inside ? at : -1;
      }
      return -1;
    });
    if (bad < 0) return rows;
    return BadIndex(c, params, indices, bad, depth);
  }

  template <typename T>
  static void CopyRows(KernelContext& c, const T* params, const int64_t* rows, int64_t count,
                       int64_t inner, const T& zero, T* to) {
    const double cost = 3 + 0.1 * static_cast<double>(inner * static_cast<int64_t>(sizeof(T)));
    c.ParallelFor(count, cost, [=, &zero](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (rows[i] < 0) {
          std::fill_n(to + i * inner, inner, zero);
        } else {
          std::copy_n(params + rows[i] * inner, inner, to + i * inner);
        }
      }
    });
  }

  bool ignore_ = false;
};

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() | QuantizedTypes() |
    TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
KERNEL(Gather, FunctionKernel<GatherFirst>, {"Tparams", kTypes});
KERNEL(GatherV2, FunctionKernel<GatherV2>, {"Tparams", kTypes});
KERNEL(GatherNd, GatherNdKernel, {"Tparams", kTypes - TypeSet{DT_QINT16, DT_QUINT16}});

}  // namespace
}  // namespace sluice
