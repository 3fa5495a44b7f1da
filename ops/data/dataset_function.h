// Lets datasets call functions of the graph's function library.
#ifndef SLUICE_OPS_DATA_DATASET_FUNCTION_H_
#define SLUICE_OPS_DATA_DATASET_FUNCTION_H_

#include <cstdint>
#include <functional>
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

// A function that a dataset calls. It runs in a session of its own, on the devices of the same task
// and with their resources. The function's arguments are the components of an element, followed by
// the captured tensors. As in TensorFlow, its nodes may not request a device of another task.
// Thread safety: Call may be called from any thread.
class DatasetFunction {
 public:
  // Makes the function in attribute `attr`. Nodes that request no device run on the kernel's
  // device. NOT_FOUND or INVALID_ARGUMENT if the function is unknown or cannot be built,
  // UNIMPLEMENTED if a dataset in the function calls the same function, RESOURCE_EXHAUSTED if
  // functions of datasets nest too deep or are too many.
  static absl::StatusOr<std::shared_ptr<const DatasetFunction>> Make(const KernelInit& init,
                                                                     const std::string& attr);
  // Calls the function with `element` and `captured`, and blocks until it returns. Cancelling
  // `cancellation`, which may be null, ends the call. INVALID_ARGUMENT if the function expects
  // another number or other types of arguments.
  absl::StatusOr<Tensors> Call(const Tensors& element, const Tensors& captured,
                               CancellationManager* cancellation) const;

 private:
  explicit DatasetFunction(std::string name) : name_(std::move(name)) {}
  absl::Status Build(const FunctionRef& function, const Graph& around, SessionOptions options);

  const std::string name_;
  Graph graph_;
  std::vector<DataType> argument_types_;
  std::unique_ptr<Session> session_;
  Callable call_;
};

// A function with the tensors that it captured.
struct Closure {
  absl::StatusOr<Tensors> operator()(const Tensors& element, Reading& reading) const;

  std::shared_ptr<const DatasetFunction> function;
  Tensors captured;
};

// An iterator over the dataset in tensor `made`, which a function returned. INVALID_ARGUMENT if
// `made` holds no dataset. RESOURCE_EXHAUSTED if the dataset is deeper than 60
// (DatasetVariant::depth), because the iterators of nested functions share the stack of one thread.
absl::StatusOr<IteratorPointer> IterateReturned(const Tensor& made, Reading& reading);
// An iterator over the dataset that `f(element)` returns. Errors: those of `f` and IterateReturned.
absl::StatusOr<IteratorPointer> IterateMade(const Closure& f, const Tensors& element,
                                            Reading& reading);

// The functions of a dataset op, in the order of the attributes that hold them.
class DatasetFunctions {
 public:
  static absl::StatusOr<DatasetFunctions> Make(const KernelInit& init);
  // The functions with their captured tensors. The op takes captured tensors as the input list
  // `<attribute>_other_arguments` or `<attribute>_other_args` or, if it has one function,
  // `other_arguments`.
  std::vector<Closure> Closures(const KernelContext& c) const;

 private:
  struct Function {
    std::shared_ptr<const DatasetFunction> function;
    std::pair<int, int> captured;  // [first, last) of the inputs
  };
  std::vector<Function> functions_;
};

// Outputs the dataset that kMake(c, closures of the op's functions) returns.
template <absl::StatusOr<DatasetPointer> (*kMake)(const KernelContext&, std::vector<Closure>)>
class FunctionDatasetKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(DatasetFunctions functions, DatasetFunctions::Make(init));
    return std::unique_ptr<Kernel>(new FunctionDatasetKernel(std::move(functions)));
  }
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer made, kMake(c, functions_.Closures(c)));
    return SetDatasetOutput(c, std::move(made));
  }

 private:
  explicit FunctionDatasetKernel(DatasetFunctions functions) : functions_(std::move(functions)) {}
  const DatasetFunctions functions_;
};

// MakeReadingKernel returns a kernel that calls `read(c, closures of the op's functions)` on a
// thread of its own, because reading a dataset may block.
using ReadFunction = absl::Status (*)(KernelContext&, std::vector<Closure>);
absl::StatusOr<std::unique_ptr<Kernel>> MakeReadingKernel(KernelInit& init, ReadFunction read);

template <ReadFunction kRead>
struct ReadingKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeReadingKernel(init, kRead);
  }
};

// The number in `returned`, the results of the function in attribute `attr`. INVALID_ARGUMENT
// unless the only result is an int64 scalar.
absl::StatusOr<int64_t> ReturnedScalar(const Tensors& returned, const char* attr);

// Returns a function that calls `f` and returns its only result (ReturnedScalar). `attr` is the
// attribute that holds `f`.
std::function<absl::StatusOr<int64_t>(const Tensors&, Reading&)> ScalarFunction(Closure f,
                                                                                const char* attr);

// The tensors of `state`, followed by those of `element`: the arguments of a function of both.
Tensors Joined(const Tensors& state, const Tensors& element);

using ElementFunction = std::function<absl::StatusOr<Tensors>(const Tensors&, Reading&)>;

// Returns an iterator over the results of `f` for the elements of `inner`. Up to `calls` calls of
// `f` run at the same time, each in its own thread. The results are in the order of the elements.
// When the iterator is destroyed, calls that still run are cancelled.
IteratorPointer ParallelMap(IteratorPointer inner, ElementFunction f, int64_t calls,
                            Reading& reading);

// Returns the value of the input `num_parallel_calls`, an int32 or int64. -1 stands for the number
// of processors. Numbers above 256 are lowered to 256, because each call is a thread. 0 and numbers
// below -1 return INVALID_ARGUMENT.
absl::StatusOr<int64_t> ParallelCalls(const KernelContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_FUNCTION_H_
