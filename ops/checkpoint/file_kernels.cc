// Kernels that read, write and list files.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

absl::Status CheckScalar(const KernelContext& c, int i, std::string_view name) {
  if (c.input(i).rank() == 0) return absl::OkStatus();
  return InvalidArgument(name, " must be a scalar, got shape ", c.input(i).shape().ToString());
}

absl::Status ShardedFilename(KernelContext& c) {
  constexpr const char* kNames[] = {"basename", "shard", "num_shards"};
  for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(CheckScalar(c, i, kNames[i]));
  return SetScalarOutput(
      c, absl::StrFormat("%s-%05d-of-%05d", c.input(0).scalar<std::string>(),
                         c.input(1).scalar<int32_t>(), c.input(2).scalar<int32_t>()));
}

absl::Status ShardedFilespec(KernelContext& c) {
  constexpr const char* kNames[] = {"basename", "num_shards"};
  for (int i = 0; i < 2; ++i) SLUICE_RETURN_IF_ERROR(CheckScalar(c, i, kNames[i]));
  return SetScalarOutput(c,
                         absl::StrFormat("%s-\?\?\?\?\?-of-%05d", c.input(0).scalar<std::string>(),
                                         c.input(1).scalar<int32_t>()));
}

absl::Status MatchingFiles(KernelContext& c) {
  SLUICE_INVALID_IF(c.input(0).rank() > 1,
                    "Input pattern tensor must be scalar or vector, but had shape: ",
                    c.input(0).shape().ToString());
  std::vector<std::string> all;
  for (const std::string& pattern : c.input(0).flat<std::string>()) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> found, MatchFiles(pattern));
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {static_cast<int64_t>(all.size())}));
  std::move(all.begin(), all.end(), out->data<std::string>());
  return absl::OkStatus();
}

absl::Status CheckFilename(const KernelContext& c) {
  if (c.input(0).rank() == 0) return absl::OkStatus();
  return InvalidArgument("Input filename tensor must be scalar, but had shape: ",
                         c.input(0).shape().ToString());
}

absl::Status ReadFile(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckFilename(c));
  SLUICE_ASSIGN_OR_RETURN(std::string contents, ReadWholeFile(c.input(0).scalar<std::string>()));
  return SetScalarOutput(c, std::move(contents));
}

absl::Status WriteFile(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckFilename(c));
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(1), 0, "Contents tensor must be scalar, but had shape: "));
  const std::string& path = c.input(0).scalar<std::string>();
  SLUICE_RETURN_IF_ERROR(MakeDirectories(DirectoryOf(path)));
  return WriteFileAtomically(path, c.input(1).scalar<std::string>());
}

KERNEL(MatchingFiles, FunctionKernel<MatchingFiles>);
KERNEL(ReadFile, FunctionKernel<ReadFile>);
KERNEL(ShardedFilename, FunctionKernel<ShardedFilename>);
KERNEL(ShardedFilespec, FunctionKernel<ShardedFilespec>);
KERNEL(WriteFile, FunctionKernel<WriteFile>);

}  // namespace
}  // namespace sluice
