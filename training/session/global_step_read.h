// Functions that read the global step. Many hooks fetch it with each step.
#ifndef SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_
#define SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns a tensor with the value of the global step. The first call adds it to the graph and to
// the collection "global_step_read_op_cache", and later calls return the same tensor. In a step
// that trains, the value may be from before or after the update. FAILED_PRECONDITION "Global step
// should be created to use <user>." if the graph has no global step. INVALID_ARGUMENT if the global
// step is not an int32 or int64 scalar. Reference:
// get_or_create_global_step_read of TensorFlow's hooks.
absl::StatusOr<Output> GlobalStepRead(Graph& graph, std::string_view user);
// Runs a step of the session that fetches `read`, the result of GlobalStepRead. Returns its value.
absl::StatusOr<int64_t> GlobalStepValue(Session& session, Output read);
// Returns the value of a fetched global step, an int32 or int64 scalar.
int64_t StepOf(const Tensor& value);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_
