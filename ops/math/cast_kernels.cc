#include "ops/loops/cast_loops.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

class CastKernel : public Kernel {
 public:
  // If `loop` is null, the output is the input.
  CastKernel(CastLoop loop, size_t x_size, size_t y_size)
      : loop_(loop), x_size_(x_size), y_size_(y_size) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const DataType from = BaseType(init.input_type(0)), to = BaseType(init.output_type(0));
    if (from == to) return std::unique_ptr<Kernel>(new CastKernel(nullptr, 0, 0));
    CastLoop loop =
        FindCastLoop(StoredType(from), StoredType(to), init.AttrOr<bool>("Truncate", false));
    if (loop == nullptr) {
      return absl::UnimplementedError(
          StrCat("Cast ", DataTypeName(from), " to ", DataTypeName(to), " is not supported"));
    }
    return std::unique_ptr<Kernel>(new CastKernel(loop, DataTypeSize(from), DataTypeSize(to)));
  }

  absl::Status Compute(KernelContext& context) override {
    if (loop_ == nullptr) {
      context.set_output(0, context.input(0));
      return absl::OkStatus();
    }
    const TensorShape shape = context.input(0).shape();
    const char* x = static_cast<const char*>(context.input(0).raw());
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, shape));
    char* y = static_cast<char*>(output->raw());
    ForBlocks(context, shape.num_elements(), 0.5, x_size_ + y_size_,
              [&](int64_t begin, int64_t end) {
                loop_(x + begin * x_size_, y + begin * y_size_, end - begin);
              });
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const CastLoop loop_;
  const size_t x_size_;
  const size_t y_size_;
};
KERNEL(Cast, CastKernel);

}  // namespace
}  // namespace sluice
