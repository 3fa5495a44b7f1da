#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "executor/files/file_system.h"
#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/ir/graph.h"
#include "graph/tensor/bools.h"

namespace sluice {
namespace {

class ConstKernel : public Kernel {
 public:
  explicit ConstKernel(KernelInit& init) : ConstKernel(init.attr<Tensor>("value")) {}
  explicit ConstKernel(Tensor value) : value_(std::move(value)) {}
  absl::Status Compute(KernelContext& c) override {
    c.set_output(0, value_);
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const Tensor value_;
};

absl::Status Unfed(KernelContext& c) {
  const PartialShape shape = c.node().AttrOr<PartialShape>("shape", PartialShape());
  std::string text = StrCat("You must feed a value for placeholder tensor '", c.name(),
                            "' with dtype ", DataTypeName(c.output_dtype(0)));
  if (shape.rank_known() && shape.rank() > 0) StrAppend(&text, " and shape ", shape.ToString());
  return absl::InvalidArgumentError(text);
}

absl::Status GraphDefVersion(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  out->scalar<int32_t>() = c.node().graph()->versions().producer;
  return absl::OkStatus();
}

absl::Status PassOn(KernelContext& c) {
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

// Maps a file. It stays mapped while the buffer lives.
absl::StatusOr<Buffer*> MapFile(const std::string& path, size_t bytes) {
  SLUICE_ASSIGN_OR_RETURN(const std::string local, PathToMap(path));
  const int file = open(local.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return FileError(path, errno);
  struct stat info;
  void* data = MAP_FAILED;
  const bool fits = fstat(file, &info) == 0 && static_cast<size_t>(info.st_size) >= bytes;
  // MAP_PRIVATE: writes to the tensor do not reach the file.
  if (fits) data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  close(file);
  SLUICE_INVALID_IF(!fits, "file '", path, "' must hold at least ", bytes, " bytes");
  if (data == MAP_FAILED) return absl::ResourceExhaustedError(StrCat("cannot map ", path));
  return Buffer::Wrap(data, bytes, [data, bytes] { munmap(data, bytes); });
}

class ImmutableConstKernel final : public ConstKernel {
 public:
  using ConstKernel::ConstKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const DataType dtype = init.attr<DataType>("dtype");
    if (!IsPlainBytes(dtype)) {
      return absl::UnimplementedError(
          "Sorry, DT_STRING is not currently supported for ImmutableConstOp.");
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, FixedShape(init.attr<PartialShape>("shape")));
    size_t bytes;
    SLUICE_INVALID_IF(__builtin_mul_overflow(DataTypeSize(dtype),
                                             static_cast<size_t>(shape.num_elements()), &bytes),
                      "shape ", shape.ToString(), " is too large");
    if (bytes == 0) return std::make_unique<ConstKernel>(Tensor(dtype, shape));
    SLUICE_ASSIGN_OR_RETURN(Buffer* const buffer,
                            MapFile(init.attr<std::string>("memory_region_name"), bytes));
    Tensor mapped(dtype, shape, BufferRef(buffer));
    FixBools(&mapped);
    return std::make_unique<ConstKernel>(std::move(mapped));
  }
};

KERNEL(Const, ConstKernel);
KERNEL(HostConst, ConstKernel);
KERNEL(ImmutableConst, ImmutableConstKernel);
KERNEL(GraphDefVersion, CheapFunctionKernel<GraphDefVersion>);
using UnfedKernel = CheapFunctionKernel<Unfed>;
KERNEL(Placeholder, UnfedKernel);
KERNEL(PlaceholderV2, UnfedKernel);
using DefaultKernel = CheapFunctionKernel<PassOn>;
KERNEL(PlaceholderWithDefault, DefaultKernel);

}  // namespace
}  // namespace sluice
