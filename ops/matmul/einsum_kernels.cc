#include <complex>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/cast_loops.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"
#include "ops/matmul/equation.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

// An axis of an operand: a label, or one of the dimensions of the ellipsis.
struct Axis {
  int id;        // a label, or kEllipsisId + the axis's distance from the end of the ellipsis
  int64_t size;  // 1 if the operand is broadcast along the axis
  int64_t stride;
};
using Axes = absl::InlinedVector<Axis, 8>;
constexpr int kEllipsisId = 1000;

// Returns an axis for each label and each dimension of the ellipsis. If a label is repeated (a
// diagonal), adds its strides.
absl::StatusOr<Axes> AxesOf(const Subscripts& s, const TensorShape& shape) {
  const int named = s.named();
  const int middle = shape.rank() - named;
  SLUICE_INVALID_IF(middle < 0 || (middle > 0 && !s.has_ellipsis()), "Expected input to have ",
                    s.has_ellipsis() ? "at least " : "", "rank ", named, ", got shape ",
                    shape.ToString());
  const auto strides = RowMajorStrides(shape);
  Axes axes;
  for (int d = 0; d < shape.rank(); ++d) {
    int id;
    if (d < s.before()) {
      id = s.label(d);
    } else if (d < s.before() + middle) {
      id = kEllipsisId + s.before() + middle - 1 - d;
    } else {
      id = s.label(d - middle);
    }
    auto same = std::find_if(axes.begin(), axes.end(), [id](const Axis& a) { return a.id == id; });
    if (same == axes.end()) {
      axes.push_back({id, shape.dim(d), strides[d]});
    } else if (same->size != shape.dim(d)) {
      return InvalidArgument("Expected dimension ", same->size, " at axis ", d,
                             " of the input shaped ", shape.ToString(), " but got dimension ",
                             shape.dim(d));
    } else {
      same->stride += strides[d];
    }
  }
  return axes;
}

const Axis* Find(const Axes& axes, int id) {
  for (const Axis& a : axes) {
    if (a.id == id) return &a;
  }
  return nullptr;
}

// An axis of the whole equation: its size, and which tensors have it.
struct Role {
  int id;
  int64_t size;
  bool in_x, in_y, in_out;
};

// Returns the ids of the output's dimensions, in the order of the dimensions.
std::vector<int> IdsOf(const Subscripts& s, const std::vector<Role>& order) {
  std::vector<int> ids;
  int ellipsis_rank = 0;
  for (const Role& r : order) {
    if (r.id >= kEllipsisId) ellipsis_rank = std::max(ellipsis_rank, r.id - kEllipsisId + 1);
  }
  for (int i = 0; i <= s.named(); ++i) {
    if (i == s.before() && s.has_ellipsis()) {
      for (int d = ellipsis_rank - 1; d >= 0; --d) ids.push_back(kEllipsisId + d);
    }
    if (i < s.named()) ids.push_back(s.label(i));
  }
  return ids;
}

class EinsumKernel : public Kernel {
 public:
  explicit EinsumKernel(KernelInit& init) : text_(init.attr<std::string>("equation")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const Equation e, ParseEquation(text_, c.num_inputs()));
    SLUICE_ASSIGN_OR_RETURN(const Axes x, AxesOf(e.inputs[0], c.input(0).shape()));
    Axes y;
    if (c.num_inputs() == 2) {
      SLUICE_ASSIGN_OR_RETURN(y, AxesOf(e.inputs[1], c.input(1).shape()));
    }
    std::vector<Role> roles;
    SLUICE_RETURN_IF_ERROR(FindRoles(x, y, e.output, &roles));
    const auto is_dropped = [&](const Role& r) { return r.id >= kEllipsisId && !r.in_out; };
    SLUICE_INVALID_IF(std::any_of(roles.begin(), roles.end(), is_dropped), "Output contains ",
                      std::count_if(roles.begin(), roles.end(), is_dropped),
                      " broadcasting dimension(s) but no ellipsis (...) was found in the output "
                      "subscripts.");
    switch (c.input(0).dtype()) {
      case DT_HALF:
      case DT_BFLOAT16:
      case DT_FLOAT:
        return Run<float>(c, e, x, y, roles);
      case DT_DOUBLE:
        return Run<double>(c, e, x, y, roles);
      case DT_INT32:
        return Run<int32_t>(c, e, x, y, roles);
      case DT_INT64:
        return Run<int64_t>(c, e, x, y, roles);
      case DT_COMPLEX64:
        return Run<complex64>(c, e, x, y, roles);
      default:
        return Run<complex128>(c, e, x, y, roles);
    }
  }

 private:
  static absl::Status FindRoles(const Axes& x, const Axes& y, const Subscripts& out,
                                std::vector<Role>* roles) {
    for (const Axes* axes : {&x, &y}) {
      for (const Axis& a : *axes) {
        auto role =
            std::find_if(roles->begin(), roles->end(), [&](const Role& r) { return r.id == a.id; });
        if (role == roles->end()) {
          const bool in_out = a.id >= kEllipsisId
                                  ? out.has_ellipsis()
                                  : out.labels().find(static_cast<char>(a.id)) != std::string::npos;
          roles->push_back({a.id, a.size, false, false, in_out});
          role = roles->end() - 1;
        } else if (role->size == 1 && a.id >= kEllipsisId) {
          role->size = a.size;
        } else if (role->size != a.size && !(a.size == 1 && a.id >= kEllipsisId)) {
          return InvalidArgument("Expected dimension ", role->size, " of the input shaped ",
                                 "but got dimension ", a.size);
        }
        (axes == &x ? role->in_x : role->in_y) = true;
      }
    }
    return absl::OkStatus();
  }

  // Arranges an operand as [batch, own, summed] in type T. Batch axes are in both operands and in
  // the output, own axes in this operand and in the output, and summed axes in both operands. Sums
  // over axes that only this operand has.
  template <typename T>
  static absl::StatusOr<Tensor> Arrange(KernelContext& c, const Tensor& t, const Axes& axes,
                                        const std::vector<Role>& batch,
                                        const std::vector<Role>& own,
                                        const std::vector<Role>& summed, int64_t* rows,
                                        int64_t* columns) {
    Tensor wide = t;
    if (t.dtype() != kDataTypeOf<T>) {
      SLUICE_ASSIGN_OR_RETURN(wide, c.AllocateTemp(kDataTypeOf<T>, t.shape()));
      FindCastLoop(t.dtype(), kDataTypeOf<T>, false)(t.raw(), wide.raw(), t.num_elements());
    }
    CopyBox box;
    int64_t batches = 1;
    *rows = *columns = 1;
    auto add = [&](const std::vector<Role>& group, int64_t* count) {
      for (const Role& r : group) {
        const Axis* axis = Find(axes, r.id);
        const bool repeated = axis == nullptr || (axis->size == 1 && r.size != 1);
        box.dims.push_back({r.size, repeated ? 0 : axis->stride, 0});
        *count = SaturatedProduct(*count, r.size);
      }
    };
    add(batch, &batches);
    add(own, rows);
    add(summed, columns);
    int64_t lost = 1;
    std::vector<Role> alone;
    for (const Axis& a : axes) {
      auto is = [&a](const Role& r) { return r.id == a.id; };
      auto has = [&](const std::vector<Role>& g) { return std::any_of(g.begin(), g.end(), is); };
      if (!has(batch) && !has(own) && !has(summed)) alone.push_back({a.id, a.size, 0, 0, 0});
    }
    add(alone, &lost);
    for (int64_t step = 1, d = static_cast<int64_t>(box.dims.size()) - 1; d >= 0; --d) {
      box.dims[d].to = step;
      step = SaturatedProduct(step, box.dims[d].size);
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({batches, *rows, *columns, lost}));
    const int64_t size = TensorShape({batches, *rows, *columns}).num_elements();
    SLUICE_ASSIGN_OR_RETURN(Tensor arranged, c.AllocateTemp(kDataTypeOf<T>, shape));
    CopyStrided(c, kDataTypeOf<T>, wide.raw(), arranged.raw(), std::move(box));
    if (lost == 1) return arranged;
    SLUICE_ASSIGN_OR_RETURN(Tensor sums, c.AllocateTemp(kDataTypeOf<T>, TensorShape({size})));
    const T* from = arranged.data<T>();
    for (int64_t i = 0; i < size; ++i) {
      T sum(0);
      for (int64_t j = 0; j < lost; ++j) sum = WrappingAdd(sum, from[i * lost + j]);
      sums.data<T>()[i] = sum;
    }
    return sums;
  }

  template <typename T>
  absl::Status Run(KernelContext& c, const Equation& e, const Axes& x, const Axes& y,
                   const std::vector<Role>& roles) {
    std::vector<Role> batch, x_own, y_own, summed;
    for (const Role& r : roles) {
      if (r.in_x && r.in_y && r.in_out) batch.push_back(r);
      if (r.in_x && r.in_y && !r.in_out) summed.push_back(r);
      if (r.in_x && !r.in_y && r.in_out) x_own.push_back(r);
      if (!r.in_x && r.in_y && r.in_out) y_own.push_back(r);
    }
    int64_t m, n = 1, k, batches = 1;
    for (const Role& r : batch) batches = SaturatedProduct(batches, r.size);
    SLUICE_ASSIGN_OR_RETURN(Tensor product,
                            Arrange<T>(c, c.input(0), x, batch, x_own, summed, &m, &k));
    if (c.num_inputs() == 2) {
      SLUICE_ASSIGN_OR_RETURN(const Tensor right,
                              Arrange<T>(c, c.input(1), y, batch, y_own, summed, &n, &k));
      const Tensor left = std::move(product);
      SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({batches, m, n}));
      SLUICE_ASSIGN_OR_RETURN(product, c.AllocateTemp(kDataTypeOf<T>, shape));
      Multiply<T>(c, batches, m, n, k, left.data<T>(), right.data<T>(), product.data<T>());
    }
    std::vector<Role> order = batch;
    order.insert(order.end(), x_own.begin(), x_own.end());
    order.insert(order.end(), y_own.begin(), y_own.end());
    return Place<T>(c, e.output, order, product);
  }

  template <typename T>
  static void Multiply(KernelContext& c, int64_t batches, int64_t m, int64_t n, int64_t k,
                       const T* a, const T* b, T* out) {
    if (batches == 0 || m == 0 || n == 0) return;
    if (k == 0) {
      std::fill_n(out, batches * m * n, T(0));
      return;
    }
    const double cost = 0.1 * static_cast<double>(m * n * k);
    c.ParallelFor(batches, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Gemm<T>(m, n, k, {a + i * m * k, k, 1}, {b + i * n * k, 1, k}, out + i * m * n, n);
      }
    });
  }

  // Writes the product, whose axes are `order`, to the output, whose labels may be repeated.
  template <typename T>
  static absl::Status Place(KernelContext& c, const Subscripts& s, const std::vector<Role>& order,
                            const Tensor& product) {
    auto size_of = [&order](int id) {
      return std::find_if(order.begin(), order.end(), [id](const Role& r) { return r.id == id; })
          ->size;
    };
    const std::vector<int> ids = IdsOf(s, order);
    std::vector<int64_t> dims;
    for (int id : ids) dims.push_back(size_of(id));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const auto to = RowMajorStrides(shape);
    CopyBox box;
    for (const Role& r : order) {
      int64_t step = 0;
      for (size_t d = 0; d < ids.size(); ++d) {
        if (ids[d] == r.id) step += to[d];
      }
      box.dims.push_back({r.size, 0, step});
    }
    for (int64_t step = 1, d = static_cast<int64_t>(box.dims.size()) - 1; d >= 0; --d) {
      box.dims[d].from = step;
      step = SaturatedProduct(step, box.dims[d].size);
    }
    const bool repeats = order.size() < ids.size();
    if (repeats && out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
    if (out->dtype() == kDataTypeOf<T>) {
      CopyStrided(c, kDataTypeOf<T>, product.raw(), out->raw(), std::move(box));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor narrow, c.AllocateTemp(out->dtype(), product.shape()));
    FindCastLoop(kDataTypeOf<T>, out->dtype(), false)(product.raw(), narrow.raw(),
                                                      product.num_elements());
    CopyStrided(c, out->dtype(), narrow.raw(), out->raw(), std::move(box));
    return absl::OkStatus();
  }

  const std::string text_;
};
KERNEL(Einsum, EinsumKernel,
       {"T",
        {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_COMPLEX64,
         DT_COMPLEX128}});

}  // namespace
}  // namespace sluice
