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

// Returns the session's name for errors, such as "job 'mnist' (session 7f3a)". "mnist" is the name
// in the config's session_metadata. Without such a name, the result is "session 7f3a".
std::string JobName(const pb::ConfigProto& config, const std::string& handle);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
