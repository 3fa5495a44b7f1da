#include "tools/commands/trace_summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "graph/tensor/dtype.h"

namespace sluice {
namespace {

constexpr size_t kOpsShown = 20, kNodesShown = 10;

double Elements(const TensorShape& shape, int first = 0) {
  double n = 1;
  for (int d = first; d < shape.rank(); ++d) n *= static_cast<double>(shape.dim(d));
  return n;
}

struct Sums {
  int64_t nodes = 0;
  double ns = 0, flops = 0, bytes = 0;
};

// A node's runs in the step.
struct NodeTime {
  const Node* node = nullptr;
  double ns = 0;
  std::vector<NodeOutputStats> outputs;  // of its last run
  double path_ns = 0;                    // the longest path that ends with it
  const NodeTime* before = nullptr;      // the node before it on that path
};

class Summary {
 public:
  Summary(const StepStats& stats, const Graph& graph) : graph_(graph) {
    for (const DeviceStepStats& device : stats.dev_stats) {
      for (const NodeExecStats& run : device.node_stats) Add(run);
    }
    // A node can only have waited for nodes that ran earlier.
    std::sort(runs_.begin(), runs_.end());
    for (const auto& [start, name] : runs_) Extend(times_.at(name));
  }

  std::string Text() const {
    if (runs_.empty()) return "no node ran\n";
    return Whole() + ByOp() + LongestNodes() + CriticalPath();
  }

 private:
  void Add(const NodeExecStats& run) {
    const int64_t start = run.all_start_nanos + run.op_start_rel_nanos;
    const int64_t end = run.all_start_nanos + run.op_end_rel_nanos;
    intervals_.emplace_back(start, end);
    threads_.insert(run.thread_id);
    const auto [it, is_first] = times_.try_emplace(run.node_name);
    NodeTime& time = it->second;
    time.node = graph_.Find(run.node_name);
    if (is_first) runs_.emplace_back(start, run.node_name);
    time.ns += static_cast<double>(end - start);
    time.outputs = run.output;
  }

  void Extend(NodeTime& time) {
    const auto follow = [&](const Node* from) {
      const auto it = times_.find(from->name());
      if (it == times_.end() || &it->second == &time) return;
      if (it->second.path_ns <= time.path_ns) return;
      time.path_ns = it->second.path_ns;
      time.before = &it->second;
    };
    if (time.node != nullptr) {
      for (const Output& input : time.node->inputs()) follow(input.node);
      for (const Node* control : time.node->control_inputs()) follow(control);
    }
    time.path_ns += time.ns;
  }

  std::optional<TensorShape> ShapeOf(const Output& output) const {
    const auto it = times_.find(output.node->name());
    if (it != times_.end()) {
      for (const NodeOutputStats& o : it->second.outputs) {
        if (o.slot == output.index) return o.shape;
      }
    }
    const PartialShape& shape = output.shape();
    if (!shape.rank_known()) return std::nullopt;
    TensorShape known;
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) return std::nullopt;
      known.AddDim(shape.dim(d));
    }
    return known;
  }

  // Floating-point operations of one run; 0 for ops other than matmuls and convolutions.
  double Flops(const NodeTime& time) const {
    const Node& node = *time.node;
    const auto is_set = [&node](const char* attr) {
      const bool* value = node.FindAttr<bool>(attr);
      return value != nullptr && *value;
    };
    if (time.outputs.empty()) return 0;
    const TensorShape& out = time.outputs[0].shape;
    const std::string op(node.op());
    if (op == "MatMul" || op == "_MatMulColumns" || op == "_PackedMatMul" ||
        op.starts_with("BatchMatMul")) {
      const std::optional<TensorShape> b = ShapeOf(node.input(1));
      if (!b.has_value() || b->rank() < 2) return 0;
      const bool is_turned = is_set("transpose_b") || is_set("adj_y");
      return 2 * Elements(out) * static_cast<double>(b->dim(b->rank() - (is_turned ? 1 : 2)));
    }
    if (op == "_Attention" || op == "_AttentionGrad") {
      const std::optional<TensorShape> q = ShapeOf(node.input(0)), v = ShapeOf(node.input(2));
      if (!q.has_value() || !v.has_value() || q->rank() < 2 || v->rank() < 2) return 0;
      // Includes masked elements. The gradient recomputes the scores and has two gradients per
      // matmul.
      const double columns = static_cast<double>(v->dim(v->rank() - 2));
      const double rows = Elements(*q) / static_cast<double>(q->dim(q->rank() - 1));
      const double by_depth = 2 * Elements(*q) * columns;
      const double by_width = 2 * rows * columns * static_cast<double>(v->dim(v->rank() - 1));
      return op == "_Attention" ? by_depth + by_width : 3 * by_depth + 2 * by_width;
    }
    // One application of the filter per position that is read or computed.
    const auto convolution = [](double positions, const TensorShape& filter) {
      return filter.rank() == 4
                 ? 2 * positions * Elements(filter) / static_cast<double>(filter.dim(3))
                 : 0;
    };
    std::optional<TensorShape> filter, positions;
    if (op == "Conv2D") {
      filter = ShapeOf(node.input(1));
      positions = out;
    } else if (op == "Conv2DBackpropInput") {
      filter = ShapeOf(node.input(1));
      positions = ShapeOf(node.input(2));
    } else if (op == "Conv2DBackpropFilter") {
      filter = out;
      positions = ShapeOf(node.input(2));
    }
    if (!filter.has_value() || !positions.has_value()) return 0;
    return convolution(Elements(*positions), *filter);
  }

  double Bytes(const NodeTime& time) const {
    double bytes = 0;
    for (const NodeOutputStats& o : time.outputs) bytes += static_cast<double>(o.bytes);
    for (const Output& input : time.node->inputs()) {
      const std::optional<TensorShape> shape = ShapeOf(input);
      if (!shape.has_value()) continue;
      bytes += Elements(*shape) * static_cast<double>(DataTypeSize(BaseType(input.dtype())));
    }
    return bytes;
  }

  std::string Whole() const {
    std::vector<std::pair<int64_t, int64_t>> sorted = intervals_;
    std::sort(sorted.begin(), sorted.end());
    int64_t covered = 0, until = sorted[0].first;
    for (const auto& [start, end] : sorted) {
      if (end <= until) continue;
      covered += end - std::max(start, until);
      until = end;
    }
    const double wall = static_cast<double>(until - sorted[0].first);
    return fmt::format("{} nodes in {:.3f} ms on {} thread{}; no node ran for {:.3f} ms of it\n\n",
                       intervals_.size(), wall / 1e6, threads_.size(),
                       threads_.size() == 1 ? "" : "s",
                       (wall - static_cast<double>(covered)) / 1e6);
  }

  std::string ByOp() const {
    std::map<std::string, Sums> by_op;
    double total = 0;
    for (const auto& [name, time] : times_) {
      Sums& sums = by_op[time.node != nullptr ? std::string(time.node->op()) : "?"];
      ++sums.nodes;
      sums.ns += time.ns;
      total += time.ns;
      if (time.node == nullptr) continue;
      sums.flops += Flops(time);
      sums.bytes += Bytes(time);
    }
    std::vector<std::pair<std::string, Sums>> sorted(by_op.begin(), by_op.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
    std::string text = fmt::format("{:<32}{:>7}{:>11}{:>8}{:>10}{:>8}\n", "op", "nodes", "ms",
                                   "share", "GFLOP/s", "GB/s");
    for (size_t i = 0; i < sorted.size() && i < kOpsShown; ++i) {
      const Sums& s = sorted[i].second;
      const double ns = std::max(s.ns, 1.0);
      text += fmt::format("{:<32}{:>7}{:>11.3f}{:>7.1f}%{:>10}{:>8.1f}\n", sorted[i].first, s.nodes,
                          s.ns / 1e6, 100 * s.ns / std::max(total, 1.0),
                          s.flops > 0 ? fmt::format("{:.1f}", s.flops / ns) : "", s.bytes / ns);
    }
    if (sorted.size() > kOpsShown) {
      text += fmt::format("and {} more\n", sorted.size() - kOpsShown);
    }
    return text;
  }

  std::string LongestNodes() const {
    std::vector<std::pair<double, std::string>> longest;
    for (const auto& [name, time] : times_) longest.emplace_back(time.ns, name);
    std::sort(longest.rbegin(), longest.rend());
    std::string text = "\nlongest nodes\n";
    for (size_t i = 0; i < longest.size() && i < kNodesShown; ++i) {
      const NodeTime& time = times_.at(longest[i].second);
      text += fmt::format("{:>11.3f} ms  {} ({})", time.ns / 1e6, longest[i].second,
                          time.node != nullptr ? std::string(time.node->op()) : "?");
      for (const NodeOutputStats& o : time.outputs) text += " " + o.shape.ToString();
      text += "\n";
    }
    return text;
  }

  std::string CriticalPath() const {
    const NodeTime* last = nullptr;
    for (const auto& [name, time] : times_) {
      if (last == nullptr || time.path_ns > last->path_ns) last = &time;
    }
    std::map<std::string, double> by_op;
    int nodes = 0;
    for (const NodeTime* at = last; at != nullptr; at = at->before, ++nodes) {
      by_op[at->node != nullptr ? std::string(at->node->op()) : "?"] += at->ns;
    }
    std::vector<std::pair<double, std::string>> sorted;
    for (const auto& [op, ns] : by_op) sorted.emplace_back(ns, op);
    std::sort(sorted.rbegin(), sorted.rend());
    std::string text =
        fmt::format("\ncritical path: {:.3f} ms over {} nodes\n", last->path_ns / 1e6, nodes);
    for (size_t i = 0; i < sorted.size() && i < kNodesShown; ++i) {
      text += fmt::format("{:>11.3f} ms  {}\n", sorted[i].first / 1e6, sorted[i].second);
    }
    return text;
  }

  const Graph& graph_;
  std::map<std::string, NodeTime> times_;              // by node
  std::vector<std::pair<int64_t, std::string>> runs_;  // by first start
  std::vector<std::pair<int64_t, int64_t>> intervals_;
  std::set<uint32_t> threads_;
};

}  // namespace

std::string TraceSummary(const StepStats& stats, const Graph& graph) {
  return Summary(stats, graph).Text();
}

}  // namespace sluice
