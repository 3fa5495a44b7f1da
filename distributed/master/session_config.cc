#include "distributed/master/session_config.h"

#include <algorithm>
#include <thread>

#include "graph/strings.h"

namespace sluice {

SessionOptions WithConfig(SessionOptions options, const pb::ConfigProto& config) {
  options.allow_soft_placement = config.allow_soft_placement();
  options.log_device_placement = config.log_device_placement();
  options.operation_timeout_ms = config.operation_timeout_in_ms();
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (config.intra_op_parallelism_threads() > 0) {
    options.intra_op_threads = std::min(config.intra_op_parallelism_threads(), cores);
  }
  if (config.inter_op_parallelism_threads() > 0) {
    options.inter_op_threads = std::min(config.inter_op_parallelism_threads(), cores);
  }
  const pb::OptimizerOptions& optimizer = config.graph_options().optimizer_options();
  if (optimizer.opt_level() == pb::OptimizerOptions::L0) options.disabled_passes = {"all"};
  return options;
}

std::string JobName(const pb::ConfigProto& config, const std::string& handle) {
  const std::string& name = config.experimental().session_metadata().name();
  const std::string session = StrCat("session ", handle);
  return name.empty() ? session : StrCat("job '", name, "' (", session, ")");
}

}  // namespace sluice
