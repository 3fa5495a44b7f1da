#include "executor/passes/pack_operands.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/device/resource_manager.h"
#include "executor/kernel/kernel.h"
#include "executor/kernel/packed_operand_reader.h"
#include "executor/passes/rewrite.h"
#include "executor/passes/run_order.h"
#include "executor/passes/unused_nodes.h"
#include "graph/ir/control_flow.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Packing takes as long as two or three products with the fewest rows save together.
constexpr size_t kFewestReaders = 4;

// Columns [first, first + columns) of b or its transpose.
struct Operand {
  Output b;
  bool transpose_b;
  int64_t first, columns, depth;

  auto Key() const { return std::tuple(b.node->id(), b.index, transpose_b, first, columns); }
  AttrMap Attrs() const {
    return {{"first", first}, {"columns", columns}, {"transpose_b", transpose_b}};
  }
};

bool IsInvariant(const Node& node) {
  return IsConstantEnter(node) && !IsRefType(node.input(0).dtype());
}

struct Readers {
  Operand operand;
  std::vector<Node*> products;

  // A loop's invariant is read in each iteration.
  bool AreEnough() const {
    return products.size() >= (IsInvariant(*operand.b.node) ? 1 : kFewestReaders);
  }
};

bool IsProduct(const Node& node) { return node.op() == "MatMul" || node.op() == "_MatMulColumns"; }

std::optional<Operand> OperandOf(const Node& product) {
  if (product.output_type(0) != DT_FLOAT || product.AttrOr<bool>("transpose_a", false)) {
    return std::nullopt;
  }
  const PartialShape& b = product.input(1).shape();
  if (b.rank() != 2 || product.input(0).shape().rank() != 2) return std::nullopt;
  const bool turns = product.AttrOr<bool>("transpose_b", false);
  const int64_t whole = b.dim(turns ? 0 : 1);
  const Operand operand{product.input(1), turns, product.AttrOr<int64_t>("first", 0),
                        product.AttrOr<int64_t>("columns", whole), b.dim(turns ? 1 : 0)};
  if (whole < 0 || operand.depth < 0) return std::nullopt;
  return operand;
}

// Keeps the products that a packed operand makes faster. Their kernel decides, because it knows the
// machine.
void KeepThoseThatGain(Readers& readers) {
  ResourceManager resources;
  KernelInit init(*readers.products[0], "/device:CPU:0", &resources);
  const absl::StatusOr<std::unique_ptr<Kernel>> kernel = KernelRegistry::Global().Make(init, "CPU");
  const auto* reader =
      kernel.ok() ? dynamic_cast<const PackedOperandReader*>(kernel->get()) : nullptr;
  std::erase_if(readers.products, [&](const Node* product) {
    const int64_t rows = product->input(0).shape().dim(0);
    return reader == nullptr || rows < 0 ||
           !reader->GainsByPacking(rows, readers.operand.columns, readers.operand.depth);
  });
}

// The nodes that run after an update of a variable through its reference.
std::unordered_set<const Node*> NodesAfterUpdates(const Graph& graph) {
  std::vector<Node*> updates;
  for (Node* node : graph.nodes()) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (!IsRefType(node->input_type(i))) continue;
      updates.push_back(node);
      break;
    }
  }
  return NodesAfter(updates);
}

// Finds the operands and their products, in the order of the graph. A product that a Rewriter may
// change reads no reference.
std::vector<Readers> ReadersOf(Graph& graph, const Rewriter& rewriter) {
  std::vector<Readers> all;
  std::map<decltype(std::declval<Operand>().Key()), size_t> found;
  const std::unordered_set<const Node*> after_updates = NodesAfterUpdates(graph);
  for (Node* node : graph.nodes()) {
    if (!IsProduct(*node) || !rewriter.MayChange(*node) || IsOnABranch(*node)) continue;
    const std::optional<Operand> operand = OperandOf(*node);
    if (!operand) continue;
    // The product must see the update (late_reads.h). The operand may be packed before it.
    const bool reads_late =
        after_updates.contains(node) && rewriter.MayLieInVariable(*operand->b.node);
    if (reads_late) continue;
    const auto [at, is_new] = found.emplace(operand->Key(), all.size());
    if (is_new) all.push_back({*operand, {}});
    Readers& readers = all[at->second];
    const bool is_at_home = readers.products.empty() ||
                            node->assigned_device() == readers.products[0]->assigned_device();
    if (is_at_home) readers.products.push_back(node);
  }
  std::erase_if(all, [](const Readers& readers) { return !readers.AreEnough(); });
  return all;
}

// The packed operand, made outside of the loops whose invariant b is.
absl::StatusOr<Output> Packed(Graph& graph, const Operand& operand, const Node& product, Output b) {
  const Node& source = *b.node;
  NodeSpec spec;
  if (IsInvariant(source)) {
    SLUICE_ASSIGN_OR_RETURN(const Output outside, Packed(graph, operand, product, source.input(0)));
    spec.name = graph.UniqueName(StrCat(source.name(), "/packed"));
    spec.op = source.op();
    spec.inputs = {outside};
    spec.control_inputs.assign(source.control_inputs().begin(), source.control_inputs().end());
    spec.attrs = source.attrs();
    spec.attrs["T"] = DT_UINT8;
    SLUICE_ASSIGN_OR_RETURN(Node * enter,
                            AddBeside(graph, source, std::move(spec), outside.shape()));
    return Output(enter);
  }
  spec.name = graph.UniqueName(StrCat(product.name(), "/packed"));
  spec.op = "_PackColumns";
  spec.inputs = {b};
  spec.attrs = operand.Attrs();
  SLUICE_ASSIGN_OR_RETURN(Node * packed, AddBeside(graph, product, std::move(spec),
                                                   PartialShape({PartialShape::kUnknown})));
  return Output(packed);
}

absl::Status ReadPacked(Graph& graph, const Operand& operand, Output packed, Node* product) {
  NodeSpec spec;
  spec.name = graph.UniqueName(StrCat(product->name(), "/of_packed"));
  spec.op = "_PackedMatMul";
  spec.inputs = {product->input(0), product->input(1), packed};
  spec.control_inputs.assign(product->control_inputs().begin(), product->control_inputs().end());
  spec.attrs = operand.Attrs();
  SLUICE_ASSIGN_OR_RETURN(Node * reader,
                          AddBeside(graph, *product, std::move(spec), product->output_shape(0)));
  return TakePlace(graph, product, Output(reader));
}

}  // namespace

absl::StatusOr<int> PackOperands(Graph& graph, const PassOptions& options) {
  if (OpRegistry::Global().Find("_PackedMatMul") == nullptr) return 0;
  const auto nodes = graph.nodes();
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node* n) { return IsProduct(*n); })) {
    return 0;  // most graphs; making a Rewriter visits all nodes
  }
  const Rewriter rewriter(graph, options.keep);
  int changed = 0;
  for (Readers& readers : ReadersOf(graph, rewriter)) {
    const Operand& operand = readers.operand;
    KeepThoseThatGain(readers);
    if (!readers.AreEnough()) continue;
    SLUICE_ASSIGN_OR_RETURN(const Output packed,
                            Packed(graph, operand, *readers.products[0], operand.b));
    for (Node* product : readers.products) {
      SLUICE_RETURN_IF_ERROR(ReadPacked(graph, operand, packed, product));
      ++changed;
    }
  }
  return changed;
}

}  // namespace sluice
