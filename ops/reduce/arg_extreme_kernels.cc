#include <limits>
#include <vector>

#include "graph/tensor/sizes.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

absl::StatusOr<int64_t> AxisOf(const Tensor& axis, const TensorShape& shape) {
  SLUICE_INVALID_IF(
      axis.num_elements() != 1 || axis.rank() != 0,
      "dim must be a scalar, but received tensor of shape: ", axis.shape().ToString());
  const int64_t value = axis.dtype() == DT_INT64   ? axis.scalar<int64_t>()
                        : axis.dtype() == DT_INT32 ? axis.scalar<int32_t>()
                                                   : axis.scalar<int16_t>();
  const int64_t canonical = value < 0 ? value + shape.rank() : value;
  SLUICE_INVALID_IF(canonical < 0 || canonical >= shape.rank(), "Expected dimension in the range [",
                    -shape.rank(), ", ", shape.rank(), "), but got ", value);
  SLUICE_INVALID_IF(shape.dim(static_cast<int>(canonical)) == 0, "Reduction axis ", value,
                    " is empty in shape ", shape.ToString());
  return canonical;
}

struct Greater {
  template <typename T>
  static T Worst() {
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Less {
  template <typename T>
  static T Worst() {
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

// Sets index[c] to the row of the extreme of column c. `best` is scratch memory for one row.
template <typename Better, typename T>
void ArgLoop(const T* x, int64_t rows, int64_t columns, T* best, int64_t* index) {
  const Better better;
  std::fill_n(best, columns, Better::template Worst<T>());  // NaN is never better
  std::fill_n(index, columns, 0);
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * columns;
    for (int64_t c = 0; c < columns; ++c) {
      if (better(row[c], best[c])) {
        best[c] = row[c];
        index[c] = r;
      }
    }
  }
}

void Store(const int64_t* from, DataType to_type, void* to, int64_t offset, int64_t n) {
  switch (to_type) {
    case DT_INT64:
      std::copy_n(from, n, static_cast<int64_t*>(to) + offset);
      break;
    case DT_INT32:
      std::copy_n(from, n, static_cast<int32_t*>(to) + offset);
      break;
    default:  // int16 and uint16 have the same bits
      std::copy_n(from, n, static_cast<uint16_t*>(to) + offset);
      break;
  }
}

template <typename Better>
struct ArgExtreme {
  template <typename T>
  class Kernel : public sluice::Kernel {
   public:
    absl::Status Compute(KernelContext& context) override {
      const Tensor& input = context.input(0);
      SLUICE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(context.input(1), input.shape()));
      int64_t outer = 1, columns = 1;
      TensorShape shape;
      for (int i = 0; i < input.rank(); ++i) {
        if (i == axis) continue;
        int64_t& side = i < axis ? outer : columns;
        side = SaturatedProduct(side, input.dim(i));
        shape.AddDim(input.dim(i));
      }
      const int64_t rows = input.dim(static_cast<int>(axis));
      SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, shape));
      if (shape.num_elements() == 0) return absl::OkStatus();
      const T* x = input.template data<T>();
      const DataType type = output->dtype();
      void* out = output->raw();
      const double cost = 1.0 * static_cast<double>(rows * columns);
      context.ParallelFor(outer, cost, [&](int64_t begin, int64_t end) {
        const auto best = std::make_unique<T[]>(columns);
        std::vector<int64_t> index(columns);
        for (int64_t i = begin; i < end; ++i) {
          ArgLoop<Better>(x + i * rows * columns, rows, columns, best.get(), index.data());
          Store(index.data(), type, out, i * columns, columns);
        }
      });
      return absl::OkStatus();
    }
  };
};

using ArgList = JoinTypes<RealList, TypeList<bool>>::type;
KERNELS(ArgMax, "T", ArgExtreme<Greater>::Kernel, ArgList);
KERNELS(ArgMin, "T", ArgExtreme<Less>::Kernel, ArgList);

}  // namespace
}  // namespace sluice
