// Carries RunOptions::check_numerics from a client to its master. TensorFlow's message RunOptions
// has no field for it. A watch of its debugger stands for it, which applies the op CheckNumerics to
// all outputs of all nodes.
//
// Thread safety: the functions keep no state.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_NUMERICS_WATCH_H_
#define SLUICE_DISTRIBUTED_MESSAGE_NUMERICS_WATCH_H_

#include "graph/format/proto/config.pb.h"

namespace sluice {

inline constexpr char kNumericsCheck[] = "CheckNumerics";

inline void AddNumericsWatch(pb::RunOptions& options) {
  pb::DebugTensorWatch& all = *options.mutable_debug_options()->add_debug_tensor_watch_opts();
  all.set_node_name("*");
  all.set_output_slot(-1);
  all.add_debug_ops(kNumericsCheck);
}

// Returns true if AddNumericsWatch made the watch, or a client made the same one.
inline bool IsNumericsWatch(const pb::DebugTensorWatch& watch) {
  return watch.node_name() == "*" && watch.output_slot() == -1 && watch.debug_ops_size() == 1 &&
         watch.debug_ops(0) == kNumericsCheck;
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_NUMERICS_WATCH_H_
