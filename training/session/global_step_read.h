// The value of the global step as a tensor that many hooks fetch.
#ifndef SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_
#define SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

// A copy of the step's value, made at the first call and kept in the collection
// "global_step_read_op_cache". In a step that trains it may be the value from before or after.
// FAILED_PRECONDITION "Global step should be created to use <user>." where the graph has none.
// Reference behaviour: tf.train.get_or_create_global_step_read of TensorFlow's hooks.
absl::StatusOr<Output> GlobalStepRead(Graph& graph, std::string_view user);
// Runs it: `read` is GlobalStepRead's.
absl::StatusOr<int64_t> GlobalStepValue(Session& session, Output read);
// Of a fetched value: int32 or int64.
int64_t StepOf(const Tensor& value);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_GLOBAL_STEP_READ_H_
