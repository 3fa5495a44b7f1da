#include "tests/oracle/interpreter.h"

#include <algorithm>
#include <future>
#include <set>

#include "executor/step/cancellation.h"
#include "graph/status.h"

namespace sluice::oracle {
namespace {

bool IsMerge(const Node& node) { return node.op() == "Merge" || node.op() == "RefMerge"; }

// Reads a variable where its value is wanted.
absl::Status Dereference(const Node& node, int i, Value* value) {
  if (value->ref == nullptr || IsRefType(node.input_type(i))) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(*value->ref_mutex);
  if (!value->ref->IsInitialized() && !node.def().allows_uninitialized_input) {
    return absl::FailedPreconditionError(
        StrCat("Attempting to use uninitialized value ", node.input(i).node->name()));
  }
  value->tensor = *value->ref;
  value->ref = nullptr;
  return absl::OkStatus();
}

absl::Status Compute(Kernel* kernel, KernelContext& context) {
  AsyncKernel* async = kernel->AsAsync();
  if (async == nullptr) return kernel->Compute(context);
  std::promise<absl::Status> done;
  async->ComputeAsync(context, [&](absl::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

}  // namespace

absl::StatusOr<std::vector<Node*>> Interpreter::Order(const Feeds& feeds, const OutputList& fetches,
                                                      const std::vector<Node*>& targets) const {
  std::set<Node*> wanted;
  std::vector<Node*> work(targets);
  auto want = [&](const Output& o) {
    for (const auto& [fed, tensor] : feeds) {
      if (fed == o) return;
    }
    work.push_back(o.node);
  };
  for (const Output& f : fetches) want(f);
  while (!work.empty()) {
    Node* node = work.back();
    work.pop_back();
    if (!wanted.insert(node).second) continue;
    for (const Output& in : node->inputs()) want(in);
    for (Node* c : node->control_inputs()) work.push_back(c);
  }
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph_));
  std::erase_if(order, [&](Node* n) { return !wanted.contains(n); });
  return order;
}

absl::StatusOr<Kernel*> Interpreter::KernelOf(Node* node) {
  std::unique_ptr<Kernel>& kernel = kernels_[node];
  if (kernel == nullptr) {
    KernelInit init(*node, "/job:localhost/replica:0/task:0/device:CPU:0", &resources_);
    SLUICE_ASSIGN_OR_RETURN(kernel, KernelRegistry::Global().Make(init, "CPU"));
  }
  return kernel.get();
}

absl::Status Interpreter::RunNode(Node* node, const StepContext& step, Values& values,
                                  const std::vector<Output>& kept) {
  std::vector<Value> outputs(node->num_outputs());
  std::vector<Value> inputs(node->num_inputs());
  std::vector<Value*> places;
  uint64_t movable = 0;
  int dead = 0;
  for (int i = 0; i < node->num_inputs(); ++i) {
    const Output& in = node->input(i);
    Value& source = values.at(in.node)[in.index];
    const bool last = std::count_if(in.node->uses().begin(), in.node->uses().end(),
                                    [&](const Use& u) { return u.src_output == in.index; }) == 1 &&
                      std::find(kept.begin(), kept.end(), in) == kept.end();
    if (last && i < 64) movable |= uint64_t{1} << i;
    inputs[i] = last ? std::move(source) : source;
    dead += inputs[i].is_dead;
    if (!inputs[i].is_dead) SLUICE_RETURN_IF_ERROR(Dereference(*node, i, &inputs[i]));
    places.push_back(&inputs[i]);
  }
  bool is_dead = IsMerge(*node) ? dead == node->num_inputs() : dead > 0;
  for (Node* c : node->control_inputs()) {
    const auto& control = values.at(c);
    is_dead |= !IsMerge(*node) && control.back().is_dead;
  }
  if (!is_dead) {
    SLUICE_ASSIGN_OR_RETURN(Kernel * kernel, KernelOf(node));
    KernelContext context(step, *node, places.data(), node->num_inputs(), movable, outputs.data(),
                          node->num_outputs());
    SLUICE_RETURN_IF_ERROR(
        AnnotateAfter(Compute(kernel, context), StrCat("\n\t [[{{node ", node->name(), "}}]]")));
  }
  for (Value& v : outputs) v.is_dead |= is_dead;
  outputs.emplace_back().is_dead = is_dead;  // what waits for the node sees this
  values[node] = std::move(outputs);
  return absl::OkStatus();
}

absl::StatusOr<Tensors> Interpreter::Run(const Feeds& feeds, const OutputList& fetches,
                                         const std::vector<Node*>& targets) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> order, Order(feeds, fetches, targets));
  ResourceManager step_resources;
  CancellationManager cancellation;
  std::function<void(std::function<void()>)> schedule = [](std::function<void()> f) { f(); };
  StepContext step;
  step.step_id = next_step_++;
  step.allocator = &Heap();
  step.resources = &resources_;
  step.step_resources = &step_resources;
  step.cancellation = &cancellation;
  step.schedule = &schedule;
  Values values;
  std::vector<Output> kept(fetches);
  for (const auto& [output, tensor] : feeds) {
    std::vector<Value>& outputs = values[output.node];
    outputs.resize(output.node->num_outputs() + 1);
    outputs[output.index].tensor = tensor;
    kept.push_back(output);
  }
  for (Node* node : order) SLUICE_RETURN_IF_ERROR(RunNode(node, step, values, kept));
  Tensors results;
  for (const Output& f : fetches) {
    Value& value = values.at(f.node)[f.index];
    if (value.is_dead) return InvalidArgument("Retval[", results.size(), "] does not have value");
    if (value.ref != nullptr && !value.ref->IsInitialized()) {
      return absl::FailedPreconditionError(
          StrCat("Attempting to use uninitialized value ", f.node->name()));
    }
    results.push_back(value.ref != nullptr ? *value.ref : value.tensor);
  }
  return results;
}

}  // namespace sluice::oracle
