// Writes watched tensors to files that TensorFlow's first debugger (tfdbg) reads.
//
// A tensor is one file with a serialized Event, at
//   <root>/_tfdbg_device_,job_localhost,.../<node>_<output>_<debug op>_<microseconds>
// Thread safety: immutable.
// Reference: TensorFlow's core/debug/debug_io_utils.cc.
#ifndef SLUICE_OPS_SUMMARY_DEBUG_DUMP_H_
#define SLUICE_OPS_SUMMARY_DEBUG_DUMP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"

namespace sluice {

class DebugDump {
 public:
  // Returns the dump that the attributes of a debug node describe. INVALID_ARGUMENT if tensor_name
  // is not "node" or "node:output". UNIMPLEMENTED if one of debug_urls is not "file://…". If
  // gated_grpc is true, "grpc://…" is allowed too, but nothing is written to such a URL: Sluice
  // does not connect to debug servers, which would open its gate.
  static absl::StatusOr<DebugDump> Of(const KernelInit& init);

  // False if all URLs are gated: the node then returns an empty tensor.
  bool is_open() const { return is_open_; }
  // Writes the tensor to all URLs.
  absl::Status Write(const Tensor& tensor) const;

 private:
  std::string node_, key_, path_;
  std::vector<std::string> roots_;
  bool is_open_ = true;
};

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_DEBUG_DUMP_H_
