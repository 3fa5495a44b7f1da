// States that a function carries from element to element.
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;
using Types = std::vector<DataType>;
using Shapes = std::vector<PartialShape>;

Tensors InputsIn(const KernelContext& c, std::pair<int, int> range) {
  Tensors inputs;
  for (int i = range.first; i < range.second; ++i) inputs.push_back(c.input(i));
  return inputs;
}

// Reads the dataset by a thread of its own.
class ReduceKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto f, CapturedFunction::Make(init, "f", "other_arguments"));
    return std::unique_ptr<Kernel>(new ReduceKernel(init, std::move(f)));
  }

  void ComputeAsync(KernelContext& c, Done done) override {
    std::thread([this, &c, done = std::move(done)] { done(Reduce(c)); }).detach();
  }

 private:
  ReduceKernel(const KernelInit& init, CapturedFunction f)
      : f_(std::move(f)),
        state_(init.InputRange("initial_state")),
        types_(init.AttrOr<Types>("output_types", {})),
        shapes_(init.AttrOr<Shapes>("output_shapes", {})) {}

  absl::Status Reduce(KernelContext& c) const {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    const Closure f = f_(c);
    Tensors state = InputsIn(c, state_);
    Reading reading(c.step().cancellation);
    SLUICE_ASSIGN_OR_RETURN(const IteratorPointer iterator, input->Iterate(reading));
    while (true) {
      SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
      Tensors element;
      SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&element));
      if (!any) break;
      SLUICE_ASSIGN_OR_RETURN(Tensors next, f(Joined(state, element), reading));
      if (next.size() != state.size()) {
        return InvalidArgument(
            "The number of components of the initial state and the reduce function output does "
            "not match. (initial_state=",
            state.size(), ", output=", next.size(), ").");
      }
      state = std::move(next);
    }
    SLUICE_RETURN_IF_ERROR(Check(state));
    for (size_t i = 0; i < state.size(); ++i) {
      c.set_output(static_cast<int>(i), std::move(state[i]));
    }
    return absl::OkStatus();
  }

  absl::Status Check(const Tensors& state) const {
    if (state.size() != types_.size()) {
      return InvalidArgument("Number of components does not match: expected ", types_.size(),
                             " types but got ", state.size(), ".");
    }
    for (size_t i = 0; i < state.size(); ++i) {
      if (state[i].dtype() != types_[i]) {
        return InvalidArgument("Data type mismatch at component ", i, ": expected ",
                               DataTypeName(types_[i]), " but got ", DataTypeName(state[i].dtype()),
                               ".");
      }
      if (i < shapes_.size() && !shapes_[i].IsCompatibleWith(state[i].shape())) {
        return InvalidArgument("Incompatible shapes at component ", i, ": expected ",
                               shapes_[i].ToString(), " but got ", state[i].shape().ToString(),
                               ".");
      }
    }
    return absl::OkStatus();
  }

  const CapturedFunction f_;
  const std::pair<int, int> state_;
  const Types types_;
  const Shapes shapes_;
};

// What a function returns, the next state in front.
class ScanKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto f, CapturedFunction::Make(init, "f", "other_arguments"));
    return std::unique_ptr<Kernel>(new ScanKernel(init, std::move(f)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    const auto iterate = [input, f = f_(c), initial = InputsIn(c, state_),
                          preserves = preserves_](Reading& reading) -> Iterating {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return MakeIterator([f, preserves, &reading,
                           inner = std::shared_ptr<DatasetIterator>(std::move(start)),
                           state = initial](Tensors* element) mutable -> Next {
        Tensors taken;
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&taken));
        if (!any) return false;
        absl::StatusOr<Tensors> made = f(Joined(state, taken), reading);
        if (absl::IsOutOfRange(made.status())) {
          // The function's way to end the dataset.
          if (!preserves) return false;
          return InvalidArgument("Function invocation produced OutOfRangeError: ",
                                 made.status().message());
        }
        SLUICE_RETURN_IF_ERROR(made.status());
        return Take(*std::move(made), &state, element);
      });
    };
    DatasetFacts facts = input->facts().OfOtherElements();
    if (!preserves_) facts.cardinality = DatasetFacts::kUnknown;
    c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
    return absl::OkStatus();
  }

 private:
  ScanKernel(const KernelInit& init, CapturedFunction f)
      : f_(std::move(f)),
        state_(init.InputRange("initial_state")),
        preserves_(init.AttrOr<bool>("preserve_cardinality", false)) {}

  static Next Take(Tensors made, Tensors* state, Tensors* element) {
    if (made.size() < state->size()) {
      return InvalidArgument("Got ", made.size(), " return values of scan_func, expected at least ",
                             state->size());
    }
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

  const CapturedFunction f_;
  const std::pair<int, int> state_;
  const bool preserves_;
};

// A state that one function makes, another takes elements out of, and a third puts away.
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
  // Also where nobody wants more of the reading.
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

class GeneratorKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto begin,
                            CapturedFunction::Make(init, "init_func", "init_func_other_args"));
    SLUICE_ASSIGN_OR_RETURN(auto next,
                            CapturedFunction::Make(init, "next_func", "next_func_other_args"));
    SLUICE_ASSIGN_OR_RETURN(
        auto finalize, CapturedFunction::Make(init, "finalize_func", "finalize_func_other_args"));
    return std::unique_ptr<Kernel>(
        new GeneratorKernel(std::move(begin), std::move(next), std::move(finalize)));
  }

  absl::Status Compute(KernelContext& c) override {
    const GeneratorIterator::Functions functions = {
        .init = init_(c), .next = next_(c), .finalize = finalize_(c)};
    c.set_output(0, TensorOf(MakeDataset({}, [functions](Reading& reading) -> Iterating {
                   return IteratorPointer(new GeneratorIterator(functions, reading));
                 })));
    return absl::OkStatus();
  }

 private:
  GeneratorKernel(CapturedFunction init, CapturedFunction next, CapturedFunction finalize)
      : init_(std::move(init)), next_(std::move(next)), finalize_(std::move(finalize)) {}
  const CapturedFunction init_, next_, finalize_;
};

KERNEL(GeneratorDataset, GeneratorKernel);
KERNEL(ReduceDataset, ReduceKernel);
KERNEL(ScanDataset, ScanKernel);

}  // namespace
}  // namespace sluice
