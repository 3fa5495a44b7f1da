// Datasets, and an op on a dataset, whose functions pass a state from element to element.
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;

Tensors InitialState(const KernelContext& c) {
  const auto [first, last] = c.node().InputRange(c.node().def().InputIndex("initial_state"));
  return InputsOf(c, first, last);
}

// Reads the dataset in a thread of its own.
class ReduceKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(DatasetFunctions functions, DatasetFunctions::Make(init));
    return std::unique_ptr<Kernel>(new ReduceKernel(std::move(functions)));
  }

  void ComputeAsync(KernelContext& c, Done done) override {
    std::thread([this, &c, done = std::move(done)] { done(Reduce(c)); }).detach();
  }

 private:
  explicit ReduceKernel(DatasetFunctions functions) : functions_(std::move(functions)) {}

  absl::Status Reduce(KernelContext& c) const {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    const Closure f = functions_.Closures(c)[0];
    Tensors state = InitialState(c);
    Reading reading(c.step().cancellation);
    SLUICE_ASSIGN_OR_RETURN(const IteratorPointer iterator, input->Iterate(reading));
    while (true) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
      Tensors element;
      SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&element));
      if (!any) break;
      SLUICE_ASSIGN_OR_RETURN(Tensors next, f(Joined(state, element), reading));
      SLUICE_INVALID_IF(
          next.size() != state.size(),
          "The number of components of the initial state and the reduce function output does "
          "not match. (initial_state=",
          state.size(), ", output=", next.size(), ").");
      state = std::move(next);
    }
    SLUICE_RETURN_IF_ERROR(
        CheckElement(state, c.node().AttrOr<std::vector<DataType>>("output_types", {}),
                     c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {})));
    return SetElement(c, std::move(state));
  }

  const DatasetFunctions functions_;
};

// Splits what the function returned into the next state and an element.
Next SplitState(const Tensors& made, Tensors* state, Tensors* element) {
  SLUICE_INVALID_IF(made.size() < state->size(), "Got ", made.size(),
                    " return values of scan_func, expected at least ", state->size());
  for (size_t i = 0; i < state->size(); ++i) {
    if (made[i].dtype() == (*state)[i].dtype()) continue;
    return InvalidArgument("Got wrong type for scan_func return value ", i, " (expected ",
                           DataTypeName((*state)[i].dtype()), ", got ",
                           DataTypeName(made[i].dtype()), ").");
  }
  const auto end = made.begin() + static_cast<std::ptrdiff_t>(state->size());
  element->assign(end, made.end());
  state->assign(made.begin(), end);
  return true;
}

MadeDataset ScanDataset(const KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const bool preserves = c.node().AttrOr<bool>("preserve_cardinality", false);
  const auto start = [f = functions[0], preserves, initial = InitialState(c)](IteratorPointer inner,
                                                                              Reading& reading) {
    return MakeIterator([f, preserves, &reading, inner = std::move(inner),
                         state = initial](Tensors* element) mutable -> Next {
      Tensors taken;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&taken));
      if (!any) return false;
      const absl::StatusOr<Tensors> made = f(Joined(state, taken), reading);
      if (absl::IsOutOfRange(made.status())) {
        // The function ends the dataset.
        if (!preserves) return false;
        return InvalidArgument("Function invocation produced OutOfRangeError: ",
                               made.status().message());
      }
      SLUICE_RETURN_IF_ERROR(made.status());
      return SplitState(*made, &state, element);
    });
  };
  DatasetFacts facts = input->facts().OfOtherElements();
  if (!preserves) facts.cardinality = DatasetFacts::kUnknown;
  return MakeDatasetOver(input, std::move(facts), start);
}

// Calls one function for a state, another one for each element, and a third one at the end.
class GeneratorIterator : public DatasetIterator {
 public:
  struct Functions {
    Closure init, next, finalize;
  };
  GeneratorIterator(Functions functions, Reading& reading)
      : functions_(std::move(functions)), reading_(reading) {}
  ~GeneratorIterator() override {
    if (is_begun_ && !is_over_) Finalize().IgnoreError();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (is_over_) return false;
    if (!is_begun_) {
      SLUICE_ASSIGN_OR_RETURN(state_, functions_.init({}, reading_));
      is_begun_ = true;
    }
    absl::StatusOr<Tensors> next = functions_.next(state_, reading_);
    if (absl::IsOutOfRange(next.status())) {
      is_over_ = true;
      SLUICE_RETURN_IF_ERROR(Finalize());
      return false;
    }
    SLUICE_ASSIGN_OR_RETURN(*element, std::move(next));
    return true;
  }

 private:
  // Runs even if the reading was cancelled.
  absl::Status Finalize() {
    Reading own;
    return functions_.finalize(state_, own).status();
  }

  const Functions functions_;
  Reading& reading_;
  Tensors state_;
  bool is_begun_ = false;
  bool is_over_ = false;
};

MadeDataset GeneratorDataset(const KernelContext&, std::vector<Closure> f) {
  const GeneratorIterator::Functions functions = {.init = f[0], .next = f[1], .finalize = f[2]};
  return MakeDataset({}, [functions](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<GeneratorIterator>(functions, reading);
  });
}

KERNEL(ExperimentalScanDataset, FunctionDatasetKernel<ScanDataset>);
KERNEL(GeneratorDataset, FunctionDatasetKernel<GeneratorDataset>);
KERNEL(ReduceDataset, ReduceKernel);
KERNEL(ScanDataset, FunctionDatasetKernel<ScanDataset>);

}  // namespace
}  // namespace sluice
