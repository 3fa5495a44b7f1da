// Functions of dataset ops that have several, and what they return.
#ifndef SLUICE_OPS_DATA_CAPTURED_FUNCTION_H_
#define SLUICE_OPS_DATA_CAPTURED_FUNCTION_H_

#include <utility>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "graph/status.h"
#include "ops/data/dataset_function.h"

namespace sluice {

// A function that an attribute names, and the input list that it captures.
class CapturedFunction {
 public:
  static absl::StatusOr<CapturedFunction> Make(const KernelInit& init, const char* attr,
                                               const char* captured) {
    SLUICE_ASSIGN_OR_RETURN(FunctionPointer function, DatasetFunction::Make(init, attr));
    return CapturedFunction(std::move(function), init.InputRange(captured));
  }
  Closure operator()(const KernelContext& c) const { return Closure::Of(c, function_, captured_); }

 private:
  CapturedFunction(FunctionPointer function, std::pair<int, int> captured)
      : function_(std::move(function)), captured_(captured) {}
  FunctionPointer function_;
  std::pair<int, int> captured_;
};

// What `function`, an attribute's name, returned.
inline absl::StatusOr<int64_t> ScalarOf(const Tensors& returned, const char* function) {
  if (returned.size() == 1 && returned[0].dtype() == DT_INT64 && returned[0].num_elements() == 1) {
    return *returned[0].data<int64_t>();
  }
  return InvalidArgument("`", function, "` must return a scalar int64.");
}

// A state and an element as a function's arguments.
inline Tensors Joined(const Tensors& state, const Tensors& element) {
  Tensors both = state;
  both.insert(both.end(), element.begin(), element.end());
  return both;
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_CAPTURED_FUNCTION_H_
