// Implements Gradients: walks from the ys back to the xs, and visits an op when the gradients of
// all its outputs are known.
#include "graph/gradient/gradients.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "graph/build/core_ops.h"
#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/gradient/aggregate.h"
#include "graph/gradient/backprop.h"
#include "graph/gradient/loop_states.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Whether gradients flow through tensors of the type. Resources and variants stand for their
// contents.
bool CarriesGradient(DataType type) {
  const DataType base = BaseType(type);
  return IsFloating(base) || IsComplex(base) || base == DT_RESOURCE || base == DT_VARIANT;
}

// Zeros of the type and shape of x or, if x is a handle, of its variable.
Output ZerosAs(const Output& x) {
  if (const HandleData* data = x.node->output_handle(x.index)) {
    return core::Filled(core::VariableShape(x), data->dtype, 0);
  }
  constexpr int64_t kConstElementsMax = 1000;  // larger ones are computed, as tf.zeros does
  const PartialShape& shape = x.shape();
  if (shape.IsFullyDefined() && IsPlainBytes(x.dtype()) &&
      shape.num_elements() < kConstElementsMax) {
    return core::Zeros(*x.graph(), x.dtype(), shape, "zeros_like");
  }
  return core::ZerosLike(x);
}

// One call of Gradients.
class ReverseWalk {
 public:
  ReverseWalk(Graph& graph, const OutputList& ys, const OutputList& xs,
              const GradientOptions& options)
      : graph_(graph), ys_(ys), xs_(xs), options_(options), loops_(graph) {}

  absl::StatusOr<std::vector<Grad>> Run();

 private:
  void FindReached();
  void FindOpsBetween();
  void CountPending();
  void FindStops();
  absl::Status MakeSeeds();
  void SeedYs();
  absl::StatusOr<Grad> Seed(size_t i);
  absl::Status Visit(Node* op);
  absl::StatusOr<std::vector<Grad>> InputGrads(Node* op, std::vector<Grad> output_grads);
  absl::Status CheckInputGrads(const Node& op, const std::vector<Grad>& grads) const;
  std::vector<Grad> SumOutputs(Node* op);
  void Release(Node* op);
  void ReleaseExit(Node* exit);
  bool HasAnyGrad(Node* op) const;
  Grad Result(const Output& x);
  absl::Status NoGradient(const Node& op) const;
  std::string PathThrough(const Node& op) const;
  std::vector<std::string> NamesTo(const std::set<const Node*>& goal, const Node& op,
                                   bool backwards) const;
  std::optional<ColocateWith> Colocation(Node* op) const;

  Graph& graph_;
  const OutputList& ys_;
  const OutputList& xs_;
  const GradientOptions& options_;
  std::set<const Node*> reached_;    // reachable from xs
  std::vector<Node*> between_list_;  // reached nodes that lead to ys
  std::set<const Node*> between_;
  std::map<const Node*, int> pending_;  // uses of outputs whose gradient is not yet known
  std::set<const Node*> stops_;
  std::map<Output, std::vector<Grad>> partial_;  // summands
  std::map<Output, Grad> total_;
  std::deque<Node*> ready_;
  std::vector<Grad> seeds_;
  gradient::LoopStates loops_;
};

void ReverseWalk::FindReached() {
  std::deque<const Node*> forward;
  for (const Output& x : xs_) forward.push_back(x.node);
  while (!forward.empty()) {
    const Node* op = forward.front();
    forward.pop_front();
    if (!reached_.insert(op).second) continue;
    for (const Use& use : op->uses()) {
      if (CarriesGradient(op->output_type(use.src_output))) forward.push_back(use.dst);
    }
  }
}

void ReverseWalk::FindOpsBetween() {
  FindReached();
  std::deque<Node*> backward;
  for (const Output& y : ys_) backward.push_back(y.node);
  while (!backward.empty()) {
    Node* op = backward.front();
    backward.pop_front();
    if (!reached_.contains(op) || !between_.insert(op).second) continue;
    between_list_.push_back(op);
    for (const Output& in : op->inputs()) backward.push_back(in.node);
  }
}

void ReverseWalk::CountPending() {
  for (const Node* op : between_list_) {
    for (const Output& in : op->inputs()) {
      if (between_.contains(in.node)) ++pending_[in.node];
    }
  }
}

// An x ends the walk if none of its own inputs is on a path to another x.
void ReverseWalk::FindStops() {
  for (const Output& x : xs_) {
    const auto inputs = x.node->inputs();
    const bool is_end = std::none_of(inputs.begin(), inputs.end(), [&](const Output& in) {
      auto it = pending_.find(in.node);
      return it != pending_.end() && it->second > 0;
    });
    if (is_end) stops_.insert(x.node);
  }
  for (const Output& t : options_.stop_gradients) stops_.insert(t.node);
}

std::optional<ColocateWith> ReverseWalk::Colocation(Node* op) const {
  if (!options_.colocate_gradients_with_ops) return std::nullopt;
  return std::optional<ColocateWith>(std::in_place, graph_, op);
}

absl::StatusOr<Grad> ReverseWalk::Seed(size_t i) {
  const Output& y = ys_[i];
  const std::string name = StrCat("grad_ys_", i);
  const Grad given = options_.grad_ys.empty() ? Grad() : options_.grad_ys[i];
  if (given.is_none()) {
    SLUICE_INVALID_IF(IsComplex(y.dtype()),
                      "Gradients of complex tensors must set grad_ys (y.dtype = ",
                      DataTypeName(BaseType(y.dtype())), ")");
    return Grad(core::Filled(core::ShapeOf(y), y.dtype(), 1, name));
  }
  const DataType type =
      BaseType(given.is_dense() ? given.dense().dtype() : given.slices().values.dtype());
  SLUICE_INVALID_IF(IsComplex(type) != IsComplex(y.dtype()), "Gradient type ", DataTypeName(type),
                    " generated for ", IsComplex(y.dtype()) ? "complex" : "real or integer-valued",
                    " tensor ", y.name(), " with type ", DataTypeName(y.dtype()), " must be ",
                    IsComplex(y.dtype()) ? "complex" : "real or integer");
  if (given.is_slices()) return given;
  return Grad(core::Identity(given.dense(), name));
}

absl::Status ReverseWalk::MakeSeeds() {
  SLUICE_INVALID_IF(!options_.grad_ys.empty() && options_.grad_ys.size() != ys_.size(), "Passed ",
                    options_.grad_ys.size(), " grad_ys for ", ys_.size(), " ys");
  for (size_t i = 0; i < ys_.size(); ++i) {
    std::optional<ColocateWith> with = Colocation(ys_[i].node);
    SLUICE_ASSIGN_OR_RETURN(Grad seed, Seed(i));
    seeds_.push_back(std::move(seed));
  }
  return absl::OkStatus();
}

void ReverseWalk::SeedYs() {
  for (size_t i = 0; i < ys_.size(); ++i) partial_[ys_[i]].push_back(seeds_[i]);
  std::set<const Node*> queued;
  for (const Output& y : ys_) {
    const bool is_ready = between_.contains(y.node) && pending_[y.node] == 0;
    if (is_ready && queued.insert(y.node).second) ready_.push_back(y.node);
  }
  // TensorFlow computes the gradient of every variable that enters a loop, even of unused ones.
  for (const Output& enter : loops_.Enters()) {
    if (pending_[enter.node] == 0) pending_[enter.node] = 1;
  }
  for (const Output& exit : loops_.UnusedExits(pending_, queued)) {
    if (!CarriesGradient(exit.dtype())) continue;
    partial_[exit].push_back(loops_.ZerosForExit(exit));
    ready_.push_back(exit.node);
  }
}

absl::StatusOr<std::vector<Grad>> ReverseWalk::Run() {
  {
    NameScope scope(graph_, options_.name);
    SLUICE_RETURN_IF_ERROR(MakeSeeds());
    FindOpsBetween();
    SLUICE_RETURN_IF_ERROR(
        loops_.Find(between_list_, between_, options_.colocate_gradients_with_ops));
    CountPending();
    SeedYs();
    FindStops();
    while (!ready_.empty()) {
      Node* op = ready_.front();
      ready_.pop_front();
      SLUICE_RETURN_IF_ERROR(Visit(op));
      SLUICE_RETURN_IF_ERROR(graph_.status());
      Release(op);
    }
  }
  loops_.Close();
  std::vector<Grad> results;
  for (const Output& x : xs_) results.push_back(Result(x));
  SLUICE_RETURN_IF_ERROR(graph_.status());
  return results;
}

// Sums the gradients of each output over its uses. A loop's Switch is visited twice, and keeps the
// first sum.
std::vector<Grad> ReverseWalk::SumOutputs(Node* op) {
  InContext in(graph_, loops_.ContextFor(*op, /*before=*/true));
  std::vector<Grad> sums;
  for (int i = 0; i < op->num_outputs(); ++i) {
    Grad& total = total_[Output(op, i)];
    if (total.is_none()) total = gradient::Sum(*op, partial_[Output(op, i)], options_.aggregation);
    sums.push_back(total);
  }
  return sums;
}

absl::Status ReverseWalk::Visit(Node* op) {
  const At* previous_line = graph_.scopes().at;
  if (op->at() != nullptr) graph_.scopes().at = op->at();
  std::optional<ColocateWith> with = Colocation(op);
  std::vector<Grad> output_grads = SumOutputs(op);
  const bool has_any = std::any_of(output_grads.begin(), output_grads.end(),
                                   [](const Grad& g) { return !g.is_none(); });
  absl::Status status;
  if (has_any && !stops_.contains(op)) {
    InContext in(graph_, loops_.ContextFor(*op, /*before=*/false));
    absl::StatusOr<std::vector<Grad>> input_grads = InputGrads(op, std::move(output_grads));
    status = input_grads.status();
    for (int i = 0; status.ok() && i < op->num_inputs(); ++i) {
      if (!(*input_grads)[i].is_none()) partial_[op->input(i)].push_back((*input_grads)[i]);
    }
  }
  graph_.scopes().at = previous_line;
  return status;
}

absl::StatusOr<std::vector<Grad>> ReverseWalk::InputGrads(Node* op,
                                                          std::vector<Grad> output_grads) {
  if (op->def().not_differentiable) return std::vector<Grad>(op->num_inputs());
  if (!op->def().gradient) return NoGradient(*op);
  Backprop backprop(op, output_grads);
  for (int i = 0; i < op->num_outputs(); ++i) {
    if (output_grads[i].is_none() && CarriesGradient(op->output_type(i))) {
      backprop.SetZeros(i, loops_.ZerosFor(op, i));
    }
  }
  NameScope scope(graph_, StrCat(op->name(), "_grad"));
  op->def().gradient(backprop);
  SLUICE_RETURN_IF_ERROR(graph_.status());
  SLUICE_RETURN_IF_ERROR(Annotate(backprop.status(), StrCat("gradient of ", op->Describe(), ": ")));
  std::vector<Grad> grads = backprop.input_grads();
  SLUICE_RETURN_IF_ERROR(CheckInputGrads(*op, grads));
  const auto given =
      std::count_if(grads.begin(), grads.end(), [](const Grad& g) { return !g.is_none(); });
  if (options_.gate_gradients && given > 1) {
    DeviceScope nowhere = DeviceScope::None(graph_);
    ColocateWith untied(graph_, Operation(), /*ignore_existing=*/true);
    GateTogether(graph_, grads);
  }
  return grads;
}

// Gives each gradient the shape of its input, which the gradient function may not know.
absl::Status ReverseWalk::CheckInputGrads(const Node& op, const std::vector<Grad>& grads) const {
  for (int i = 0; i < op.num_inputs(); ++i) {
    const Output grad = grads[i].dense();
    if (!grad || op.input(i).dtype() == DT_RESOURCE || op.input(i).dtype() == DT_VARIANT) continue;
    absl::StatusOr<PartialShape> merged = grad.shape().MergeWith(op.input(i).shape());
    SLUICE_INVALID_IF(!merged.ok(),
                      "Incompatible shapes between op input and calculated input gradient.  ",
                      "Forward operation: ", op.name(), ".  Input index: ", i,
                      ". Original input shape: ", op.input(i).shape().ToString(),
                      ".  Calculated input gradient shape: ", grad.shape().ToString());
    grad.node->set_output_shape(grad.index, *std::move(merged));
  }
  return absl::OkStatus();
}

void ReverseWalk::Release(Node* op) {
  for (const Output& in : op->inputs()) {
    auto it = pending_.find(in.node);
    if (it == pending_.end()) continue;
    --it->second;
    const bool is_first_visit = it->second > 0 && !loops_.empty() && IsLoopSwitch(*in.node);
    if (it->second != 0 && !is_first_visit) continue;
    if (IsExit(*in.node) && loops_.StateOf(*in.node, /*before=*/false) != nullptr) {
      ReleaseExit(in.node);
    } else {
      ready_.push_back(in.node);
    }
  }
}

bool ReverseWalk::HasAnyGrad(Node* op) const {
  for (int i = 0; i < op->num_outputs(); ++i) {
    auto it = partial_.find(Output(op, i));
    if (it == partial_.end()) continue;
    for (const Grad& g : it->second) {
      if (!g.is_none()) return true;
    }
  }
  return false;
}

// All Exits of a loop are released together, when the last one is reached. If any has a gradient,
// the others get zeros.
void ReverseWalk::ReleaseExit(Node* exit) {
  gradient::LoopState& state = *loops_.StateOf(*exit, /*before=*/false);
  state.deferred_exits.push_back(exit);
  if (--state.exits_to_come != 0) return;
  bool has_any = false;
  for (const Output& e : state.deferred_exits) {
    if (HasAnyGrad(e.node)) {
      has_any = true;
      ready_.push_back(e.node);
    } else {
      state.unused_exits.push_back(e);
    }
  }
  for (const Output& e : state.unused_exits) {
    if (has_any && CarriesGradient(e.dtype())) partial_[e].push_back(loops_.ZerosForExit(e));
    ready_.push_back(e.node);
  }
}

Grad ReverseWalk::Result(const Output& x) {
  if (auto it = total_.find(x); it != total_.end() && !it->second.is_none()) return it->second;
  if (options_.unconnected == UnconnectedGradients::kNone) return Grad();
  return Grad(ZerosAs(x));
}

absl::Status ReverseWalk::NoGradient(const Node& op) const {
  return absl::NotFoundError(StrCat("No gradient defined for operation '", op.name(),
                                    "' (op type: ", op.op(), ")", PathThrough(op)));
}

// The names of the nodes on a shortest path from one of `goal` to `op`, along edges in one
// direction.
std::vector<std::string> ReverseWalk::NamesTo(const std::set<const Node*>& goal, const Node& op,
                                              bool backwards) const {
  std::map<const Node*, const Node*> from = {{&op, nullptr}};
  std::deque<const Node*> queue = {&op};
  std::vector<std::string> names;
  while (!queue.empty()) {
    const Node* at = queue.front();
    queue.pop_front();
    if (goal.contains(at)) {
      for (const Node* n = at; n != nullptr && n != &op; n = from[n]) names.push_back(n->name());
      break;
    }
    auto visit = [&](const Node* next) {
      if (between_.contains(next) && from.emplace(next, at).second) queue.push_back(next);
    };
    if (backwards) {
      for (const Output& in : at->inputs()) visit(in.node);
    } else {
      for (const Use& use : at->uses()) visit(use.dst);
    }
  }
  return names;
}

// Text for an error: "; it is on the path x -> … -> op -> … -> y".
std::string ReverseWalk::PathThrough(const Node& op) const {
  std::set<const Node*> ends;
  for (const Output& x : xs_) ends.insert(x.node);
  std::set<const Node*> starts;
  for (const Output& y : ys_) starts.insert(y.node);
  std::vector<std::string> path = NamesTo(ends, op, /*backwards=*/true);
  path.push_back(op.name());
  std::vector<std::string> rest = NamesTo(starts, op, /*backwards=*/false);
  path.insert(path.end(), rest.rbegin(), rest.rend());
  std::string text;
  for (const std::string& name : path) StrAppend(&text, text.empty() ? "'" : " -> '", name, "'");
  return StrCat("; it is on the path ", text);
}

absl::Status CheckHandles(const OutputList& ys, const OutputList& xs, Graph** graph) {
  SLUICE_INVALID_IF(ys.empty() || xs.empty(), "Gradients needs at least one y and one x");
  *graph = ys[0].graph();
  for (const OutputList* list : {&ys, &xs}) {
    for (const Output& t : *list) {
      SLUICE_INVALID_IF(!t, "Gradients of or with respect to an invalid tensor");
      SLUICE_INVALID_IF(t.graph() != *graph, "Gradients: '", t.name(),
                        "' belongs to another graph");
    }
  }
  return (*graph)->status();
}

}  // namespace

absl::StatusOr<std::vector<Grad>> Gradients(const OutputList& ys, const OutputList& xs,
                                            GradientOptions options) {
  Graph* graph = nullptr;
  SLUICE_RETURN_IF_ERROR(CheckHandles(ys, xs, &graph));
  return ReverseWalk(*graph, ys, xs, options).Run();
}

void GateTogether(Graph& graph, std::vector<Grad>& grads) {
  NameScope scope(graph, "tuple");
  std::vector<Operation> all;
  for (const Grad& g : grads) {
    if (!g.is_none()) all.push_back(g.is_dense() ? g.dense() : g.slices().values);
  }
  std::sort(all.begin(), all.end(),
            [](const Operation& a, const Operation& b) { return a.node->id() < b.node->id(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const Operation gate = Group(graph, all);
  auto gated = [&](Output t) {
    ColocateWith with(graph, t);
    ControlDependencies after(graph, {gate});
    return core::Identity(t, "control_dependency");
  };
  for (Grad& g : grads) {
    if (g.is_dense()) {
      g = Grad(gated(g.dense()));
    } else if (g.is_slices()) {
      IndexedSlices slices = g.slices();
      slices.values = gated(slices.values);
      g = Grad(slices);
    }
  }
}

}  // namespace sluice
