// What a client's ConfigProto means for a session here, on the master and on the workers.
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_

#include <string>

#include "executor/session/session.h"
#include "graph/format/proto/config.pb.h"

namespace sluice {

// `options`, with what `config` says: placement, timeouts, threads, which passes run.
SessionOptions WithConfig(SessionOptions options, const pb::ConfigProto& config);

// How errors name the session: by its metadata's name and its handle.
std::string JobName(const pb::ConfigProto& config, const std::string& handle);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_CONFIG_H_
