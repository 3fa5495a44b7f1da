#include "ops/data/dataset_function.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/function/library.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Of an argument or result: its type, or the one that the reference gives to its attribute.
DataType TypeOf(const pb::OpDef::ArgDef& arg, const FunctionRef& function) {
  if (arg.type_attr().empty()) return static_cast<DataType>(arg.type());
  const auto found = function.attrs.find(arg.type_attr());
  if (found == function.attrs.end()) return DT_INVALID;
  const auto* type = std::get_if<DataType>(&found->second);
  return type != nullptr ? *type : DT_INVALID;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DatasetFunction>> DatasetFunction::Make(const KernelInit& init,
                                                                             const char* attr) {
  const auto function = init.AttrOr<FunctionAttr>(attr, nullptr);
  if (function == nullptr) {
    return InvalidArgument(init.node().Describe(), ": expected a function as attribute ", attr);
  }
  // A function whose own datasets ask for it again would be made without end.
  thread_local std::vector<std::string> open;  // each is being made within the one before
  if (std::find(open.begin(), open.end(), function->name) != open.end()) {
    return absl::UnimplementedError(
        StrCat(init.node().Describe(), ": function '", function->name, "' calls itself"));
  }
  open.push_back(function->name);
  auto made = std::shared_ptr<DatasetFunction>(new DatasetFunction(function->name));
  const absl::Status built = made->Build(*function, *init.node().graph());
  open.pop_back();
  SLUICE_RETURN_IF_ERROR(built);
  return made;
}

absl::Status DatasetFunction::Build(const FunctionRef& function, const Graph& around) {
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
  session_ = std::make_unique<Session>(graph_);
  SLUICE_ASSIGN_OR_RETURN(call_, session_->MakeCallable(arguments, results));
  return absl::OkStatus();
}

absl::StatusOr<Tensors> DatasetFunction::Call(const Tensors& element, const Tensors& captured,
                                              CancellationManager* cancellation) const {
  Tensors arguments = element;
  arguments.insert(arguments.end(), captured.begin(), captured.end());
  if (arguments.size() != argument_types_.size()) {
    return InvalidArgument("Function '", name_, "': expected ", argument_types_.size(),
                           " arguments, got ", arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].dtype() == argument_types_[i]) continue;
    return InvalidArgument("Function '", name_, "': expected ", DataTypeName(argument_types_[i]),
                           " as argument ", i, ", got ", DataTypeName(arguments[i].dtype()));
  }
  return call_.Run(arguments, {.cancellation = cancellation});
}

Closure Closure::Of(const KernelContext& c, FunctionPointer function,
                    std::pair<int, int> captured) {
  Closure closure{.function = std::move(function)};
  for (int i = captured.first; i < captured.second; ++i) closure.captured.push_back(c.input(i));
  return closure;
}

absl::StatusOr<Tensors> Closure::operator()(const Tensors& element, Reading& reading) const {
  return function->Call(element, captured, &reading.cancellation);
}

}  // namespace sluice
