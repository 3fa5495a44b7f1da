// Where a training loop's sessions run, and how they are made.
#ifndef SLUICE_TRAINING_SESSION_SESSION_TARGET_H_
#define SLUICE_TRAINING_SESSION_SESSION_TARGET_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/strings.h"

namespace sluice {

struct SessionTarget;
using SessionFactory =
    std::function<absl::StatusOr<std::unique_ptr<Session>>(Graph& graph, const SessionTarget&)>;

struct SessionTarget {
  std::string master;  // "" or "local": this process
  SessionOptions config;
  // Makes the sessions; empty: in this process, NOT_FOUND for another master, as TensorFlow says
  // it.
  SessionFactory make;

  absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph& graph) const {
    if (make) return make(graph, *this);
    if (!master.empty() && master != "local") {
      return absl::NotFoundError(
          StrCat("No session factory registered for the given session options: {target: \"", master,
                 "\"} Registered factories are {DIRECT_SESSION}."));
    }
    return std::make_unique<Session>(graph, config);
  }
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_TARGET_H_
