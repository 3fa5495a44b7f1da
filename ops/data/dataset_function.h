// A function of the graph's library that a dataset calls, as a session of its own.
//
// Its arguments are an element's components and what it captured. Resources that it captured are
// those of the graph around it; what it makes by name is its own.
// Thread safety: Call from any thread.
#ifndef SLUICE_OPS_DATA_DATASET_FUNCTION_H_
#define SLUICE_OPS_DATA_DATASET_FUNCTION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "ops/data/dataset.h"

namespace sluice {

class DatasetFunction {
 public:
  // The function that attribute `attr` names. NOT_FOUND, INVALID_ARGUMENT.
  static absl::StatusOr<std::shared_ptr<const DatasetFunction>> Make(const KernelInit& init,
                                                                     const char* attr);
  // INVALID_ARGUMENT where the arguments' number or types are not the function's.
  absl::StatusOr<Tensors> Call(const Tensors& element, const Tensors& captured,
                               CancellationManager* cancellation) const;

 private:
  explicit DatasetFunction(std::string name) : name_(std::move(name)) {}
  absl::Status Build(const FunctionRef& function, const Graph& around);

  const std::string name_;
  Graph graph_;
  std::vector<DataType> argument_types_;
  std::unique_ptr<Session> session_;
  Callable call_;
};
using FunctionPointer = std::shared_ptr<const DatasetFunction>;

// A function with what it captured.
struct Closure {
  // The inputs of the (list) argument `captured`.
  static Closure Of(const KernelContext& c, FunctionPointer function, std::pair<int, int> captured);
  absl::StatusOr<Tensors> operator()(const Tensors& element, Reading& reading) const;

  FunctionPointer function;
  Tensors captured;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_FUNCTION_H_
