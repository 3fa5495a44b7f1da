#include "graph/function/body.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "graph/status.h"

namespace sluice {
namespace {

class Reader {
 public:
  Reader(const pb::FunctionDef& def, const FunctionLibrary& library)
      : def_(def), library_(library) {}

  absl::StatusOr<FunctionBody> Read() {
    body_.def = &def_;
    SLUICE_RETURN_IF_ERROR(NameAll());
    for (int n = 0; n < def_.node_def_size(); ++n) SLUICE_RETURN_IF_ERROR(ReadNode(n));
    for (const pb::OpDef::ArgDef& out : def_.signature().output_arg()) {
      auto it = def_.ret().find(out.name());
      if (it == def_.ret().end()) return Wrong(StrCat("output '", out.name(), "' is not returned"));
      SLUICE_ASSIGN_OR_RETURN(BodyTensor tensor, Tensor(it->second, "ret"));
      body_.returns.push_back(std::move(tensor));
    }
    for (const auto& [name, node] : def_.control_ret()) {
      auto it = nodes_.find(node);
      if (it == nodes_.end()) return Wrong(StrCat("control_ret names unknown node '", node, "'"));
      body_.controls.push_back(it->second);
    }
    for (int n = 0; n < def_.node_def_size(); ++n) {
      if (HasState(def_.node_def(n))) body_.controls.push_back(n);
    }
    std::sort(body_.controls.begin(), body_.controls.end());
    body_.controls.erase(std::unique(body_.controls.begin(), body_.controls.end()),
                         body_.controls.end());
    SLUICE_RETURN_IF_ERROR(Order());
    return std::move(body_);
  }

 private:
  absl::Status Wrong(std::string_view text) const {
    return InvalidArgument("function '", def_.signature().name(), "': ", text);
  }

  absl::Status NameAll() {
    for (int i = 0; i < def_.signature().input_arg_size(); ++i) {
      args_[def_.signature().input_arg(i).name()] = i;
    }
    for (int n = 0; n < def_.node_def_size(); ++n) {
      const std::string& name = def_.node_def(n).name();
      if (!nodes_.emplace(name, n).second) return Wrong(StrCat("two nodes '", name, "'"));
    }
    body_.nodes.resize(static_cast<size_t>(def_.node_def_size()));
    return absl::OkStatus();
  }

  absl::StatusOr<BodyTensor> Tensor(std::string_view text, std::string_view user) const {
    BodyTensor tensor;
    const size_t first = text.find(':');
    const std::string_view name = text.substr(0, first);
    std::string_view rest = first == text.npos ? "" : text.substr(first + 1);
    const size_t last = rest.rfind(':');
    std::string_view digits = last == rest.npos ? rest : rest.substr(last + 1);
    if (auto arg = args_.find(name); arg != args_.end()) {
      tensor.arg = arg->second;
      tensor.is_whole = rest.empty();
    } else if (auto node = nodes_.find(name); node != nodes_.end()) {
      tensor.node = node->second;
      tensor.output = std::string(rest.substr(0, last == rest.npos ? rest.size() : last));
      tensor.is_whole = last == rest.npos && !rest.empty();
      if (last == rest.npos) digits = "";
    } else {
      return Wrong(StrCat("'", user, "' takes unknown input '", text, "'"));
    }
    for (char c : digits) {
      if (c < '0' || c > '9' || tensor.index > (1 << 20)) {
        return Wrong(StrCat("'", user, "' takes malformed input '", text, "'"));
      }
      tensor.index = tensor.index * 10 + (c - '0');
    }
    return tensor;
  }

  absl::Status ReadNode(int n) {
    BodyNode& node = body_.nodes[static_cast<size_t>(n)];
    node.def = &def_.node_def(n);
    for (const std::string& input : node.def->input()) {
      if (input.starts_with('^')) {
        const std::string name = input.substr(1);
        if (args_.contains(name)) continue;  // arguments are always available
        auto it = nodes_.find(name);
        if (it == nodes_.end()) {
          return Wrong(StrCat("'", node.def->name(), "' waits for unknown node '", name, "'"));
        }
        node.controls.push_back(it->second);
        continue;
      }
      SLUICE_ASSIGN_OR_RETURN(BodyTensor tensor, Tensor(input, node.def->name()));
      if (tensor.node >= 0 && TraitsOfOp(node.def->op()).role == OpRole::kMerge &&
          TraitsOfOp(def_.node_def(tensor.node).op()).role == OpRole::kNextIteration) {
        node.back_edges.push_back(static_cast<int>(node.inputs.size()));
      }
      node.inputs.push_back(std::move(tensor));
    }
    return absl::OkStatus();
  }

  bool HasState(const pb::NodeDef& node) const {
    if (library_.Contains(node.op())) return true;  // the op names a function
    const OpDef* op = OpRegistry::Global().Find(node.op());
    return op != nullptr && op->is_stateful;
  }

  static bool IsBackEdge(const BodyNode& node, size_t input) {
    return std::find(node.back_edges.begin(), node.back_edges.end(), static_cast<int>(input)) !=
           node.back_edges.end();
  }

  // Depth first, without recursion, because a body may be a chain of many thousand nodes.
  absl::Status Order() {
    enum : char { kNew, kOpen, kDone };
    std::vector<char> state(body_.nodes.size(), kNew);
    std::vector<int> roots = body_.controls;
    for (const BodyTensor& t : body_.returns) {
      if (t.node >= 0) roots.push_back(t.node);
    }
    std::vector<std::pair<int, bool>> stack;
    for (size_t r = 0; r < roots.size(); ++r) {
      stack.push_back({roots[r], false});
      while (!stack.empty()) {
        const auto [n, leave] = stack.back();
        stack.pop_back();
        char& s = state[static_cast<size_t>(n)];
        if (leave) {
          s = kDone;
          body_.order.push_back(n);
          continue;
        }
        if (s == kDone) continue;
        const BodyNode& node = body_.nodes[static_cast<size_t>(n)];
        if (s == kOpen) return Wrong(StrCat("a cycle through node '", node.def->name(), "'"));
        s = kOpen;
        stack.push_back({n, true});
        auto visit = [&](int from) {
          if (state[static_cast<size_t>(from)] != kDone) stack.push_back({from, false});
        };
        for (int from : node.controls) visit(from);
        for (size_t i = node.inputs.size(); i-- > 0;) {
          if (node.inputs[i].node < 0) continue;
          if (IsBackEdge(node, i)) {
            roots.push_back(node.inputs[i].node);  // required, but not before this node
          } else {
            visit(node.inputs[i].node);
          }
        }
      }
    }
    return absl::OkStatus();
  }

  const pb::FunctionDef& def_;
  const FunctionLibrary& library_;
  std::map<std::string, int, std::less<>> args_;
  std::map<std::string, int, std::less<>> nodes_;
  FunctionBody body_;
};

}  // namespace

absl::StatusOr<FunctionBody> ReadFunctionBody(const pb::FunctionDef& def,
                                              const FunctionLibrary& library) {
  return Reader(def, library).Read();
}

}  // namespace sluice
