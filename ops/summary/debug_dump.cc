#include "ops/summary/debug_dump.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "executor/files/files.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the name of the directory for a device such as
// "/job:localhost/replica:0/task:0/device:CPU:0".
std::string DirectoryOf(std::string device) {
  std::replace(device.begin(), device.end(), ':', '_');
  std::replace(device.begin(), device.end(), '/', ',');
  return "_tfdbg_device_" + device;
}

}  // namespace

absl::StatusOr<DebugDump> DebugDump::Of(const KernelInit& init) {
  DebugDump dump;
  const std::string& tensor = init.attr<std::string>("tensor_name");
  const std::vector<std::string> parts = absl::StrSplit(tensor, ':');
  int slot = 0;
  SLUICE_INVALID_IF(tensor.empty() || parts.size() > 2, init.node().op(), " node '", init.name(),
                    "': Failed to parse tensor name: \"", tensor, "\"");
  SLUICE_INVALID_IF(parts.size() == 2 && !absl::SimpleAtoi(parts[1], &slot), init.node().op(),
                    " node '", init.name(), "': Invalid string value for output_slot: \"", parts[1],
                    "\"");
  dump.node_ = parts[0];
  dump.key_ = StrCat(parts[0], ":", slot, ":", init.node().op());
  dump.path_ = StrCat("/", DirectoryOf(init.attr<std::string>("device_name")), "/", parts[0], "_",
                      slot, "_", init.node().op());
  const bool is_gated = init.attr<bool>("gated_grpc");
  dump.is_open_ = !is_gated;
  for (const std::string& url : init.attr<std::vector<std::string>>("debug_urls")) {
    if (is_gated && absl::StartsWith(url, "grpc://")) continue;
    if (!absl::StartsWith(url, "file://")) {
      return absl::UnimplementedError(StrCat(init.node().op(), " node '", init.name(),
                                             "': expected debug_urls that begin with file://, got ",
                                             url));
    }
    dump.roots_.push_back(url);
    dump.is_open_ = true;
  }
  return dump;
}

absl::Status DebugDump::Write(const Tensor& tensor) const {
  if (roots_.empty()) return absl::OkStatus();
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  pb::Event event;
  event.set_wall_time(static_cast<double>(now.count()));
  pb::Summary::Value* value = event.mutable_summary()->add_value();
  value->set_node_name(key_);
  value->set_tag(node_);
  SLUICE_RETURN_IF_ERROR(TensorToContentProto(tensor, value->mutable_tensor()));
  const std::string bytes = event.SerializeAsString();
  for (const std::string& root : roots_) {
    const std::string path = StrCat(root, path_, "_", now.count());
    SLUICE_RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/'))));
    std::string unused = path;
    for (int i = 1; FileExists(unused); ++i) unused = StrCat(path, "-", i);
    SLUICE_RETURN_IF_ERROR(WriteFileAtomically(unused, bytes));
  }
  return absl::OkStatus();
}

}  // namespace sluice
