#include "executor/session/remote_master.h"

#include <map>
#include <utility>

#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

struct Factories {
  Mutex mutex;
  std::map<std::string, RemoteMaster::Factory> by_scheme ABSL_GUARDED_BY(mutex);
};
Factories& Registered() {
  static auto* factories = new Factories;
  return *factories;
}

}  // namespace

void RemoteMaster::RegisterFactory(const std::string& scheme, Factory factory) {
  Factories& factories = Registered();
  ScopedLock lock(&factories.mutex);
  factories.by_scheme[scheme] = std::move(factory);
}

absl::StatusOr<std::shared_ptr<RemoteMaster>> RemoteMaster::Connect(const std::string& target,
                                                                    const SessionOptions& options) {
  Factories& factories = Registered();
  Factory factory;
  std::string known = "DIRECT_SESSION";
  {
    ScopedLock lock(&factories.mutex);
    auto it = factories.by_scheme.find(target.substr(0, target.find("://")));
    if (it != factories.by_scheme.end()) factory = it->second;
    if (!factories.by_scheme.empty()) known += ", GRPC_SESSION";
  }
  if (factory) return factory(target, options);
  return absl::NotFoundError(
      StrCat("No session factory registered for the given session options: {target: \"", target,
             "\"} Registered factories are {", known, "}."));
}

}  // namespace sluice
