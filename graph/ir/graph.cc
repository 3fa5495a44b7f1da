#include "graph/ir/graph.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/names.h"
#include "graph/ir/scopes.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

const std::string& EmptyString() {
  static const std::string* empty = new std::string;
  return *empty;
}

std::string LowerCased(std::string_view s) {
  std::string lower(s);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The control edge between the nodes, or null. Takes time proportional to the shorter list of
// edges.
ControlEdge* FindEdge(const Node* from, const Node* to) {
  ControlEdge* in = to->control_inputs().first();
  ControlEdge* out = from->control_outputs().first();
  for (; in != nullptr && out != nullptr; in = in->in.after, out = out->out.after) {
    if (in->from == from) return in;
    if (out->to == to) return out;
  }
  return nullptr;
}

}  // namespace

DataType Output::dtype() const { return node ? node->output_type(index) : DT_INVALID; }
const PartialShape& Output::shape() const {
  static const PartialShape* unknown = new PartialShape;
  return node ? node->output_shape(index) : *unknown;
}
std::string Output::name() const { return node ? StrCat(node->name(), ":", index) : ""; }
Graph* Output::graph() const { return node ? node->graph() : nullptr; }
bool Output::operator<(const Output& o) const {
  const int a = node ? node->id() : -1;
  const int b = o.node ? o.node->id() : -1;
  return a != b ? a < b : index < o.index;
}

const std::string& Operation::name() const { return node ? node->name() : EmptyString(); }
const std::string& Operation::device() const { return node ? node->device() : EmptyString(); }
Graph* Operation::graph() const { return node ? node->graph() : nullptr; }

Node::~Node() {
  while (ControlEdge* edge = control_inputs_.first()) {
    control_inputs_.Erase(edge);
    delete edge;
  }
  if (def_ != nullptr && !IsRegistered(*def_)) delete def_;  // made by Graph::Resolve
}

void Node::RemoveAttr(std::string_view name) {
  if (auto it = attrs_.find(name); it != attrs_.end()) attrs_.erase(it);
}

const HandleData* Node::output_handle(int i) const {
  auto it = output_handles_.find(i);
  return it == output_handles_.end() ? nullptr : &it->second;
}
void Node::set_output_handle(int i, HandleData data) { output_handles_[i] = std::move(data); }

std::vector<std::string> Node::colocation() const {
  std::vector<std::string> names;
  if (const auto* classes = FindAttr<std::vector<std::string>>("_class")) {
    for (const std::string& c : *classes) {
      if (c.starts_with("loc:@")) names.push_back(c.substr(5));
    }
  }
  return names;
}

std::string Node::location() const {
  return has_location_ ? StrCat(location_.file_name(), ":", location_.line()) : "";
}
std::string Node::Describe() const { return StrCat(op(), " node '", name_, "'"); }

struct Graph::Names {
  using SuffixMap = absl::flat_hash_map<std::string, int>;

  void Add(Node* node) {
    nodes.emplace(node->name(), node);
    if (suffixes) suffixes->emplace(LowerCased(node->name()), 1);
  }
  SuffixMap& Suffixes() {
    if (!suffixes) {
      suffixes.emplace();
      // UniqueName also adds a suffix if a node has the name already.
      for (const auto& [name, node] : nodes) suffixes->emplace(LowerCased(name), 1);
    }
    return *suffixes;
  }

  // Keys are the nodes' own names.
  absl::flat_hash_map<std::string_view, Node*, std::hash<std::string_view>> nodes;
  // Lower-cased name -> next suffix. Created by the first call of UniqueName.
  std::optional<SuffixMap> suffixes;
};

Graph::Graph() : names_(std::make_unique<Names>()), scopes_(std::make_unique<Scopes>()) {}
Graph::~Graph() = default;

absl::StatusOr<Node*> Graph::Add(NodeSpec spec) {
  if (finalized_) {
    return absl::FailedPreconditionError(
        StrCat("node '", spec.name, "' (op ", spec.op, ") added to a finalized graph"));
  }
  if (names_->nodes.contains(spec.name)) {
    return absl::AlreadyExistsError(
        StrCat("Node name '", spec.name, "' already exists in the Graph"));
  }
  std::unique_ptr<Node> node(new Node);
  SLUICE_RETURN_IF_ERROR(Resolve(spec, *node));
  node->id_ = num_node_ids();
  node->graph_ = this;
  node->name_ = std::move(spec.name);
  node->device_ = std::move(spec.device);
  node->attrs_ = std::move(spec.attrs);
  node->inputs_.assign(spec.inputs.begin(), spec.inputs.end());
  node->output_shapes_.resize(node->output_types_.size());
  if (spec.at != nullptr) {
    node->location_ = *spec.at;
    node->has_location_ = true;
  }
  Node* added = node.get();
  nodes_.push_back(std::move(node));
  ++live_nodes_;
  names_->Add(added);
  added->input_edges_.resize(added->inputs_.size());
  for (int i = 0; i < added->num_inputs(); ++i) {
    const Output& in = added->inputs_[i];
    if (in && !IsRegistered(*in.node)) {
      // The input's node has an unregistered op. The new node determines which outputs that node
      // has at least, and their types.
      const size_t outputs = std::max<size_t>(in.node->num_outputs(), in.index + 1);
      in.node->output_types_.resize(outputs, DT_INVALID);
      in.node->output_shapes_.resize(outputs);
      DataType& type = in.node->output_types_[in.index];
      if (BaseType(type) == DT_INVALID || IsRefType(added->input_type(i))) {
        type = added->input_type(i);
      }
    }
    LinkInput(added, i);
  }
  std::unordered_set<Node*> seen;  // a group of all variables may have many thousands
  for (Node* before : spec.control_inputs) {
    if (seen.insert(before).second) LinkControl(before, added);
  }
  return added;
}

void Graph::LinkInput(Node* node, int i) {
  const Output& in = node->inputs_[i];
  if (!in) return;
  UseEdge& edge = node->input_edges_[i];
  edge.use = {.dst = node, .src_output = in.index, .dst_input = i};
  in.node->uses_.Append(&edge);
}

void Graph::LinkControl(Node* from, Node* to) {
  auto* edge = new ControlEdge{.from = from, .to = to};
  to->control_inputs_.Append(edge);
  from->control_outputs_.Append(edge);
}

void Graph::Unlink(ControlEdge* edge) {
  edge->to->control_inputs_.Erase(edge);
  edge->from->control_outputs_.Erase(edge);
  delete edge;
}

void Graph::Remove(Node* node) {
  for (int i = 0; i < node->num_inputs(); ++i) {
    if (const Output& in = node->inputs_[i]) in.node->uses_.Erase(&node->input_edges_[i]);
  }
  for (const Use& use : node->uses_) use.dst->inputs_[use.dst_input] = Output();
  while (ControlEdge* edge = node->control_inputs_.first()) Unlink(edge);
  while (ControlEdge* edge = node->control_outputs_.first()) Unlink(edge);
  names_->nodes.erase(node->name_);
  --live_nodes_;
  nodes_[node->id_].reset();
}

absl::Status Graph::UpdateInput(Node* node, int i, Output source) {
  SLUICE_INVALID_IF(!source || i < 0 || i >= node->num_inputs(), node->Describe(), ": no input ", i,
                    " to connect to '", source.name(), "'");
  SLUICE_INVALID_IF(source.index < 0 || source.index >= source.node->num_outputs(),
                    node->Describe(), ": input ", i, " cannot be '", source.name(), "': node '",
                    source.node->name(), "' has ", source.node->num_outputs(), " outputs");
  SLUICE_INVALID_IF(BaseType(source.dtype()) != BaseType(node->input_type(i)) ||
                        (IsRefType(node->input_type(i)) && !IsRefType(source.dtype())),
                    "Input ", i, " of node ", node->name(), " was passed ",
                    DataTypeName(source.dtype()), " from ", source.name(),
                    " incompatible with expected ", DataTypeName(node->input_type(i)), ".");
  if (const Output& old = node->inputs_[i]) old.node->uses_.Erase(&node->input_edges_[i]);
  node->inputs_[i] = source;
  LinkInput(node, i);
  return absl::OkStatus();
}

void Graph::AddControlEdge(Node* from, Node* to) {
  if (FindEdge(from, to) == nullptr) LinkControl(from, to);
}

void Graph::RemoveControlEdge(Node* from, Node* to) {
  if (ControlEdge* edge = FindEdge(from, to)) Unlink(edge);
}

Node* Graph::Find(std::string_view name) const {
  auto it = names_->nodes.find(name);
  return it == names_->nodes.end() ? nullptr : it->second;
}

absl::StatusOr<Output> Graph::FindOutput(std::string_view tensor_name) const {
  const auto [name, number] = ParseTensorName(tensor_name);
  const int index = std::max(number, 0);
  Node* node = Find(name);
  if (node == nullptr) {
    return absl::NotFoundError(StrCat("tensor '", tensor_name, "': no node '", name, "'"));
  }
  SLUICE_INVALID_IF(index >= node->num_outputs() && !(index == 0 && node->num_outputs() == 0),
                    "Output ", index, " of node ", name, " does not exist. Node only has ",
                    node->num_outputs(), " outputs.");
  return Output(node, index);
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> all;
  all.reserve(live_nodes_);
  for (const auto& node : nodes_) {
    if (node != nullptr) all.push_back(node.get());
  }
  return all;
}

std::string Graph::UniqueName(std::string_view base, bool mark) {
  Names::SuffixMap& used = names_->Suffixes();
  std::string key = LowerCased(base);
  const auto known = used.find(key);
  if (known == used.end()) {
    if (mark) used.emplace(std::move(key), 1);
    return std::string(base);
  }
  // Without a mark, a later call returns the same name.
  int suffix = known->second;
  int& next = mark ? known->second : suffix;
  std::string name, name_key;
  do {
    name = StrCat(base, "_", suffix++);
    name_key = LowerCased(name);
  } while (used.contains(name_key));
  next = suffix;
  if (mark) used.emplace(std::move(name_key), 1);
  return name;
}

void Graph::SetError(const absl::Status& error, At at) {
  SetError(AnnotateAfter(error, StrCat(" [built at ", at.file_name(), ":", at.line(), "]")));
}

const std::vector<std::string>& Graph::Collection(std::string_view key) const {
  static const std::vector<std::string>& none = *new std::vector<std::string>();
  const auto it = collections_.find(key);
  return it == collections_.end() ? none : it->second;
}

void Graph::AddToCollection(std::string_view key, std::string value) {
  auto it = collections_.find(key);
  if (it == collections_.end()) {
    it = collections_.emplace(std::string(key), std::vector<std::string>()).first;
  }
  it->second.push_back(std::move(value));
}

namespace {

// The edges of a graph by numbers. In large graphs each node that is read costs several misses of
// the cache. In order of creation neighbours are read one after the other, and each one once.
class Edges {
 public:
  explicit Edges(const Graph& graph) : starts_(graph.num_node_ids() + 1, 0) {
    int next_id = 0;
    ends_.reserve(2 * static_cast<size_t>(graph.num_nodes()));
    for (const Node* node : graph.nodes()) {
      while (next_id <= node->id()) starts_[next_id++] = ends_.size();
      // The readers' ops are compared only if an edge may be a back edge.
      const bool may_lead_back = IsNextIteration(*node);
      for (const Use& use : node->uses()) {
        if (!(may_lead_back && IsMerge(*use.dst))) ends_.push_back(use.dst->id());
      }
      for (const Node* to : node->control_outputs()) ends_.push_back(to->id());
    }
    while (next_id < static_cast<int>(starts_.size())) starts_[next_id++] = ends_.size();
  }

  // The nodes after node `id`, once per edge that is no back edge.
  absl::Span<const int> After(int id) const {
    return absl::MakeConstSpan(ends_).subspan(starts_[id], starts_[id + 1] - starts_[id]);
  }
  absl::Span<const int> all() const { return ends_; }

 private:
  std::vector<size_t> starts_;  // by node id, in ends_
  std::vector<int> ends_;
};

}  // namespace

absl::StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph) {
  const Edges edges(graph);
  std::vector<int> pending(graph.num_node_ids(), 0);
  for (const int to : edges.all()) ++pending[to];
  std::vector<Node*> order;
  std::vector<int> ids;
  order.reserve(graph.num_nodes());
  ids.reserve(graph.num_nodes());
  for (int id = 0; id < graph.num_node_ids(); ++id) {
    if (graph.node(id) != nullptr && pending[id] == 0) ids.push_back(id);
  }
  for (size_t next = 0; next < ids.size(); ++next) {
    order.push_back(graph.node(ids[next]));
    for (const int to : edges.After(ids[next])) {
      if (--pending[to] == 0) ids.push_back(to);
    }
  }
  const int left = graph.num_nodes() - static_cast<int>(order.size());
  SLUICE_INVALID_IF(left > 0, left, " nodes in a cycle");
  return order;
}

}  // namespace sluice
