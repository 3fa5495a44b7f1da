#include "ops/data/dataset_function.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/compiler/step_graph.h"
#include "executor/device/device_set.h"
#include "executor/wait/cancellable_files.h"
#include "executor/wait/out_of_memory.h"
#include "executor/wait/thread.h"
#include "graph/function/library.h"
#include "graph/status.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

// Limits nested functions: a library of a few kilobytes can describe datasets whose functions
// contain 2^64 other functions.
constexpr size_t kMaxNestedFunctions = 32, kMaxFunctionsInFunction = 1000;

// Returns the declared type of an argument or result, or the value of its type attribute in
// `function`.
DataType TypeOf(const pb::OpDef::ArgDef& arg, const FunctionRef& function) {
  if (arg.type_attr().empty()) return static_cast<DataType>(arg.type());
  const auto found = function.attrs.find(arg.type_attr());
  if (found == function.attrs.end()) return DT_INVALID;
  const auto* type = std::get_if<DataType>(&found->second);
  return type != nullptr ? *type : DT_INVALID;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DatasetFunction>> DatasetFunction::Make(
    const KernelInit& init, const std::string& attr) {
  const auto function = init.AttrOr<FunctionAttr>(attr, nullptr);
  SLUICE_INVALID_IF(function == nullptr, init.node().Describe(),
                    ": expected a function as attribute ", attr);
  // Names of the functions that are being built. If a dataset inside a function called the same
  // function, building them would not end.
  thread_local std::vector<std::string> open;  // each inside the previous one
  if (std::find(open.begin(), open.end(), function->name) != open.end()) {
    return absl::UnimplementedError(
        StrCat(init.node().Describe(), ": function '", function->name, "' calls itself"));
  }
  thread_local size_t num_made = 0;  // functions built inside the outermost function
  if (open.empty()) num_made = 0;
  if (open.size() >= kMaxNestedFunctions || ++num_made > kMaxFunctionsInFunction) {
    return absl::ResourceExhaustedError(
        StrCat(init.node().Describe(), ": expected functions of datasets that nest at most ",
               kMaxNestedFunctions, " deep and contain at most ", kMaxFunctionsInFunction,
               " functions of datasets, got more in '", function->name, "'"));
  }
  SessionOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.devices, DeviceSet::Borrow(init.resources(), init.device_name()));
  options.allow_soft_placement = init.AttrOr<bool>(kAllowSoftPlacement, false);
  open.push_back(function->name);
  auto made = std::shared_ptr<DatasetFunction>(new DatasetFunction(function->name));
  const absl::Status built = made->Build(*function, *init.node().graph(), std::move(options));
  open.pop_back();
  SLUICE_RETURN_IF_ERROR(built);
  return made;
}

absl::Status DatasetFunction::Build(const FunctionRef& function, const Graph& around,
                                    SessionOptions options) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionLibrary library,
                          FunctionLibrary::Parse(around.function_library()));
  SLUICE_ASSIGN_OR_RETURN(const pb::FunctionDef* def, library.Find(function.name));
  graph_.function_library() = around.function_library();
  graph_.versions() = around.versions();
  NodeSpec call{.name = "call", .op = "StatefulPartitionedCall"};
  OutputList arguments, results;
  for (const auto& arg : def->signature().input_arg()) {
    const DataType type = TypeOf(arg, function);
    SLUICE_ASSIGN_OR_RETURN(
        Node * placeholder,
        graph_.Add({.name = StrCat("argument_", argument_types_.size()),
                    .op = "Placeholder",
                    .attrs = {{"dtype", type}, {"shape", PartialShape::UnknownRank()}}}));
    arguments.push_back(Output(placeholder, 0));
    argument_types_.push_back(type);
  }
  std::vector<DataType> result_types;
  for (const auto& arg : def->signature().output_arg()) {
    result_types.push_back(TypeOf(arg, function));
  }
  call.inputs.assign(arguments.begin(), arguments.end());
  call.attrs = {{"Tin", argument_types_},
                {"Tout", result_types},
                {"f", std::make_shared<const FunctionRef>(function)}};
  SLUICE_ASSIGN_OR_RETURN(Node * node, graph_.Add(std::move(call)));
  for (size_t i = 0; i < result_types.size(); ++i) {
    results.push_back(Output(node, static_cast<int>(i)));
  }
  session_ = std::make_unique<Session>(graph_, std::move(options));
  // If the function has no results, it is called for its effects.
  std::vector<Operation> targets;
  if (results.empty()) targets.push_back(Operation(node));
  SLUICE_ASSIGN_OR_RETURN(call_, session_->MakeCallable(arguments, results, targets));
  return absl::OkStatus();
}

absl::StatusOr<Tensors> DatasetFunction::Call(const Tensors& element, const Tensors& captured,
                                              CancellationManager* cancellation) const {
  const Tensors arguments = Joined(element, captured);
  SLUICE_INVALID_IF(arguments.size() != argument_types_.size(), "Function '", name_, "': expected ",
                    argument_types_.size(), " arguments, got ", arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].dtype() == argument_types_[i]) continue;
    return InvalidArgument("Function '", name_, "': expected ", DataTypeName(argument_types_[i]),
                           " as argument ", i, ", got ", DataTypeName(arguments[i].dtype()));
  }
  return call_.Run(arguments, {.cancellation = cancellation});
}

absl::StatusOr<Tensors> Closure::operator()(const Tensors& element, Reading& reading) const {
  return function->Call(element, captured, &reading.cancellation);
}

// The greatest depth of a dataset that a function returns: it may read from another dataset, that
// one from a third, and so on. Functions can be nested, and the iterators of all levels share the
// stack of one thread.
constexpr int kMaxMadeDepth = 60;

absl::StatusOr<IteratorPointer> IterateReturned(const Tensor& made, Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made));
  const int depth = made.data<Variant>()->get<DatasetVariant>()->depth();
  if (depth > kMaxMadeDepth) {
    return absl::ResourceExhaustedError(
        StrCat("Function made a chain of ", depth, " datasets, expected at most ", kMaxMadeDepth));
  }
  return dataset->Iterate(reading);
}

absl::StatusOr<IteratorPointer> IterateMade(const Closure& f, const Tensors& element,
                                            Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors made, f(element, reading));
  SLUICE_INVALID_IF(made.size() != 1, "Function must return a single dataset.");
  return IterateReturned(made[0], reading);
}

absl::StatusOr<DatasetFunctions> DatasetFunctions::Make(const KernelInit& init) {
  DatasetFunctions functions;
  for (const AttrDef& attr : init.node().def().attrs) {
    if (attr.kind != AttrKind::kFunction) continue;
    SLUICE_ASSIGN_OR_RETURN(auto function, DatasetFunction::Make(init, attr.name));
    std::pair<int, int> captured = init.InputRange("other_arguments");
    for (const char* suffix : {"_other_arguments", "_other_args"}) {
      if (init.node().def().InputIndex(attr.name + suffix) < 0) continue;
      captured = init.InputRange(attr.name + suffix);
    }
    functions.functions_.push_back({std::move(function), captured});
  }
  return functions;
}

std::vector<Closure> DatasetFunctions::Closures(const KernelContext& c) const {
  std::vector<Closure> closures;
  for (const Function& f : functions_) {
    closures.push_back(
        {.function = f.function, .captured = InputsOf(c, f.captured.first, f.captured.second)});
  }
  return closures;
}

namespace {

class ReadingKernelOf final : public AsyncKernel {
 public:
  ReadingKernelOf(DatasetFunctions functions, ReadFunction read)
      : functions_(std::move(functions)), read_(read) {}

  void ComputeAsync(KernelContext& c, Done done) override {
    const absl::Status started = StartDetached(c.node().op(), ThreadUse::kGraphs, [this, &c, done] {
      std::optional<CancellableFiles> files;
      if (c.step().cancellation != nullptr) files.emplace(*c.step().cancellation);
      done(OrOutOfMemory([&] { return read_(c, functions_.Closures(c)); }));
    });
    if (!started.ok()) done(started);
  }

 private:
  const DatasetFunctions functions_;
  const ReadFunction read_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeReadingKernel(KernelInit& init, ReadFunction read) {
  SLUICE_ASSIGN_OR_RETURN(DatasetFunctions functions, DatasetFunctions::Make(init));
  return std::make_unique<ReadingKernelOf>(std::move(functions), read);
}

absl::StatusOr<int64_t> ReturnedScalar(const Tensors& returned, const char* attr) {
  if (returned.size() == 1 && returned[0].dtype() == DT_INT64 && returned[0].num_elements() == 1) {
    return *returned[0].data<int64_t>();
  }
  return InvalidArgument("`", attr, "` must return a scalar int64.");
}

std::function<absl::StatusOr<int64_t>(const Tensors&, Reading&)> ScalarFunction(Closure f,
                                                                                const char* attr) {
  return [f = std::move(f), attr](const Tensors& element,
                                  Reading& reading) -> absl::StatusOr<int64_t> {
    SLUICE_ASSIGN_OR_RETURN(const Tensors returned, f(element, reading));
    return ReturnedScalar(returned, attr);
  };
}

Tensors Joined(const Tensors& state, const Tensors& element) {
  Tensors both = state;
  both.insert(both.end(), element.begin(), element.end());
  return both;
}

namespace {

class ParallelMapIterator : public DatasetIterator {
 public:
  ParallelMapIterator(IteratorPointer inner, ElementFunction f, int64_t calls, Reading& reading)
      : inner_(std::move(inner)), f_(std::move(f)), calls_(calls), reading_(reading) {}
  ~ParallelMapIterator() override { reading_.cancellation.StartCancel(); }

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (inner_ != nullptr && static_cast<int64_t>(pending_.size()) < calls_) {
      Tensors taken;
      const absl::StatusOr<bool> any = inner_->Next(&taken);
      if (any.ok() && !*any) {
        inner_ = nullptr;
      } else if (!any.ok()) {
        pending_.push_back(std::make_unique<Call>(Call{.result = any.status()}));
        break;
      } else {
        pending_.push_back(std::make_unique<Call>(Call{.element = std::move(taken)}));
        Start(*pending_.back());
      }
    }
    if (pending_.empty()) return false;
    const std::unique_ptr<Call> call = std::move(pending_.front());
    pending_.pop_front();
    call->thread.Join();
    if (!call->result.ok()) return call->result.status();
    *element = *std::move(call->result);
    return true;
  }

 private:
  struct Call {
    Tensors element;
    absl::StatusOr<Tensors> result = OutOfMemory();  // result if the call cannot be started
    Thread thread;                                   // last, because it uses the others
  };
  // Runs the call on a new thread, or on this thread if no thread can be started.
  void Start(Call& call) {
    const auto run = [this, &call] {
      const CancellableFiles files(reading_.cancellation);
      call.result = OrOutOfMemory([&] { return f_(call.element, reading_); });
    };
    absl::StatusOr<Thread> thread = Thread::Start("ParallelMap", ThreadUse::kGraphs, run);
    if (!thread.ok()) return run();
    call.thread = *std::move(thread);
  }

  IteratorPointer inner_;
  const ElementFunction f_;
  const int64_t calls_;
  Reading reading_;                            // ends with this iterator
  std::deque<std::unique_ptr<Call>> pending_;  // last, to be destroyed first
};

}  // namespace

IteratorPointer ParallelMap(IteratorPointer inner, ElementFunction f, int64_t calls,
                            Reading& reading) {
  return std::make_unique<ParallelMapIterator>(std::move(inner), std::move(f), calls, reading);
}

absl::StatusOr<int64_t> ParallelCalls(const KernelContext& c) {
  constexpr char kName[] = "num_parallel_calls";
  int64_t calls;
  if (c.input(InputIndex(c, kName)).dtype() == DT_INT32) {
    SLUICE_ASSIGN_OR_RETURN(calls, ScalarInput<int32_t>(c, kName));
  } else {
    SLUICE_ASSIGN_OR_RETURN(calls, ScalarInput<int64_t>(c, kName));
  }
  constexpr int64_t kAutotune = -1;
  if (calls == kAutotune) calls = std::max(1u, std::thread::hardware_concurrency());
  SLUICE_INVALID_IF(calls < 1, "num_parallel_calls must be greater than zero.");
  constexpr int64_t kThreadsMax = 256;
  return std::min(calls, kThreadsMax);
}

}  // namespace sluice
