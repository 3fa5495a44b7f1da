// Applies a client's ConfigProto to a session, on the master and on the workers.
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_

#include <string>

#include "executor/session/session.h"
#include "graph/format/proto/config.pb.h"

namespace sluice {

// Returns `options` with the settings of `config`: placement, timeouts, threads, and whether all
// passes are disabled.
SessionOptions WithConfig(SessionOptions options, const pb::ConfigProto& config);

// Returns the session's name for errors. It consists of the metadata's name and of the handle.
std::string JobName(const pb::ConfigProto& config, const std::string& handle);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
