// ReaderKernel<R> is the kernel of an op that makes a reader of class R. It calls the constructor
// R(init, name). If R has a function `static absl::Status Check(init)`, it calls Check first, which
// checks the attributes.
#ifndef SLUICE_OPS_IO_READER_KERNEL_H_
#define SLUICE_OPS_IO_READER_KERNEL_H_

#include <memory>

#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/io/reader.h"
#include "ops/state/named_resource.h"

namespace sluice {

template <typename R>
struct ReaderKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    if constexpr (requires { R::Check(init); }) SLUICE_RETURN_IF_ERROR(R::Check(init));
    return MakeNamedResourceKernel<Reader>(
        init, [&](const ResourceName& name) { return std::make_shared<R>(init, name.name); },
        [&](const Reader& reader) -> absl::Status {
          std::string_view op = init.node().op();
          if (op.ends_with("V2")) op.remove_suffix(2);
          if (reader.kind() == op) return absl::OkStatus();
          return InvalidArgument("Expected ", reader.kind(), ", found ", op);
        });
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_READER_KERNEL_H_
