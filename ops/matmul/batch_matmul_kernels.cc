// Kernels of BatchMatMul, whose batches broadcast, and of products of mixed types.
#include "ops/loops/broadcast.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {
namespace {

// The kernel of BatchMatMul, whose batch dimensions must be equal, and of V2 and V3, whose batch
// dimensions may broadcast.
template <typename T, bool kBroadcasts>
class BatchMatMulKernel : public Kernel {
 public:
  explicit BatchMatMulKernel(KernelInit& init)
      : adj_x_(init.attr<bool>("adj_x")), adj_y_(init.attr<bool>("adj_y")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& x = context.input(0);
    const Tensor& y = context.input(1);
    SLUICE_RETURN_IF_ERROR(CheckShapes(x.shape(), y.shape()));
    Products p{.a = LayoutOf(x.shape(), adj_x_, true), .b = LayoutOf(y.shape(), adj_y_, true)};
    SLUICE_INVALID_IF(p.a.columns != p.b.rows,
                      "Matrix size-incompatible: In[0]: ", x.shape().ToString(),
                      ", In[1]: ", y.shape().ToString());
    const TensorShape x_batch(x.shape().dims().subspan(0, x.rank() - 2));
    const TensorShape y_batch(y.shape().dims().subspan(0, y.rank() - 2));
    absl::StatusOr<BroadcastPlan<2>> plan = PlanBroadcast<2>({&x_batch, &y_batch});
    SLUICE_INVALID_IF(!plan.ok(), "In[0] and In[1] must have compatible batch dimensions: ",
                      x.shape().ToString(), " vs. ", y.shape().ToString());
    absl::InlinedVector<int64_t, 8> dims(plan->shape.dims().begin(), plan->shape.dims().end());
    dims.push_back(p.a.rows);
    dims.push_back(p.b.columns);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();  // there may be very many matrices
    const int64_t inner = plan->inner();
    ForRows<2>(*plan, 0, plan->rows(), [&](int64_t, const std::array<int64_t, 2>& at) {
      for (int64_t i = 0; i < inner; ++i) {
        p.a_starts.push_back((at[0] + i * plan->strides[0].back()) * p.a.elements());
        p.b_starts.push_back((at[1] + i * plan->strides[1].back()) * p.b.elements());
      }
    });
    return MultiplyTensors<T>(context, p, x, y, output);
  }

 private:
  absl::Status CheckShapes(const TensorShape& x, const TensorShape& y) const {
    SLUICE_INVALID_IF(!kBroadcasts && x.rank() != y.rank(),
                      "In[0] and In[1] has different ndims: ", x.ToString(), " vs. ", y.ToString());
    SLUICE_INVALID_IF(x.rank() < 2, "In[0] ndims must be >= 2: ", x.rank());
    SLUICE_INVALID_IF(y.rank() < 2, "In[1] ndims must be >= 2: ", y.rank());
    SLUICE_INVALID_IF(
        !kBroadcasts && x.dims().subspan(0, x.rank() - 2) != y.dims().subspan(0, y.rank() - 2),
        "In[0] and In[1] must be the same in each batch dimension: ", x.ToString(), " vs. ",
        y.ToString());
    return absl::OkStatus();
  }

  const bool adj_x_;
  const bool adj_y_;
};

constexpr TypeSet kInFloat = {DT_FLOAT, DT_HALF, DT_BFLOAT16};

#define SLUICE_BATCH_MATMUL(types, T)                                                            \
  KERNEL(BatchMatMul, BatchMatMulSame<T>, {"T", types});                                         \
  KERNEL(BatchMatMulV2, BatchMatMulBroadcast<T>, {"T", types});                                  \
  KERNEL(BatchMatMulV3, BatchMatMulBroadcast<T>, {"Ta", kDataTypeOf<T>}, {"Tb", kDataTypeOf<T>}, \
         {"Tout", kDataTypeOf<T>})

template <typename T>
using BatchMatMulSame = BatchMatMulKernel<T, false>;
template <typename T>
using BatchMatMulBroadcast = BatchMatMulKernel<T, true>;
SLUICE_BATCH_MATMUL(kInFloat, float);
SLUICE_BATCH_MATMUL(DT_DOUBLE, double);
SLUICE_BATCH_MATMUL(DT_INT16, int16_t);
SLUICE_BATCH_MATMUL(DT_INT32, int32_t);
SLUICE_BATCH_MATMUL(DT_INT64, int64_t);
SLUICE_BATCH_MATMUL(DT_COMPLEX64, complex64);
SLUICE_BATCH_MATMUL(DT_COMPLEX128, complex128);
#undef SLUICE_BATCH_MATMUL

// The operands and the result of these products may have different types.
constexpr TypeSet kBytes = {DT_INT8, DT_UINT8};
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<int32_t>, {"Ta", kBytes}, {"Tb", kBytes},
       {"Tout", DT_INT32});
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<float>, {"Ta", kBytes | DT_BFLOAT16},
       {"Tb", DT_BFLOAT16}, {"Tout", DT_BFLOAT16});
KERNEL(BatchMatMulV3, BatchMatMulBroadcast<float>, {"Ta", DT_BFLOAT16}, {"Tb", kBytes},
       {"Tout", DT_BFLOAT16});

}  // namespace
}  // namespace sluice
