#include "graph/format/contexts.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/build/cond.h"
#include "graph/build/while.h"
#include "graph/format/proto/control_flow.pb.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kNestingMax = 64;  // of contexts in a message

class Importer {
 public:
  Importer(std::string_view prefix, Graph& graph)
      : prefix_(prefix.empty() ? "" : StrCat(prefix, "/")), graph_(graph) {}

  absl::Status Cond(const pb::CondContextDef& def, ControlFlowContext* outer, int depth) {
    SLUICE_ASSIGN_OR_RETURN(const Output pred, Tensor(def.pred_name()));
    SLUICE_ASSIGN_OR_RETURN(const Output pivot, Tensor(def.pivot_name()));
    SLUICE_INVALID_IF(def.branch() != 0 && def.branch() != 1, "CondContextDef '",
                      def.context_name(), "': branch must be 0 or 1, ", "got ", def.branch());
    auto context = std::make_shared<CondContext>(prefix_ + def.context_name(), outer, pred, pivot,
                                                 def.branch());
    graph_.Own(context);
    SLUICE_RETURN_IF_ERROR(Values(def.values_def(), *context));
    return Nested(def.nested_contexts(), context.get(), depth);
  }

  absl::Status While(const pb::WhileContextDef& def, ControlFlowContext* outer, int depth) {
    WhileOptions options;
    options.parallel_iterations = std::max(1, def.parallel_iterations());
    options.back_prop = def.back_prop();
    options.swap_memory = def.swap_memory();
    if (!def.maximum_iterations_name().empty()) {
      SLUICE_ASSIGN_OR_RETURN(options.maximum_iterations, Tensor(def.maximum_iterations_name()));
    }
    auto context =
        std::make_shared<WhileContext>(graph_, prefix_ + def.context_name(), outer, options);
    graph_.Own(context);
    SLUICE_ASSIGN_OR_RETURN(context->pivot, Tensor(def.pivot_name()));
    SLUICE_ASSIGN_OR_RETURN(context->pivot_for_pred, Tensor(def.pivot_for_pred_name()));
    SLUICE_ASSIGN_OR_RETURN(context->pivot_for_body, Tensor(def.pivot_for_body_name()));
    for (const std::string& name : def.loop_exit_names()) {
      SLUICE_ASSIGN_OR_RETURN(const Output exit, Tensor(name));
      context->exits.push_back(exit);
    }
    for (const std::string& name : def.loop_enter_names()) {
      SLUICE_ASSIGN_OR_RETURN(const Output enter, Tensor(name));
      context->enters.push_back(enter);
    }
    SLUICE_RETURN_IF_ERROR(Values(def.values_def(), *context));
    if (!prefix_.empty()) {
      // The prefix changed the context's name. The frame of a loop has the name of its context.
      for (const std::string& name : def.values_def().values()) {
        SLUICE_ASSIGN_OR_RETURN(const Output value, Tensor(name));
        if (IsEnter(*value.node) && value.node->context() == context.get()) {
          value.node->SetAttr("frame_name", context->name());
        }
      }
    }
    return Nested(def.nested_contexts(), context.get(), depth);
  }

 private:
  absl::StatusOr<Output> Tensor(const std::string& name) const {
    absl::StatusOr<Output> tensor = graph_.FindOutput(prefix_ + name);
    if (tensor.ok()) return tensor;
    return InvalidArgument("a context names '", name, "', which is not in the graph");
  }

  absl::Status Values(const pb::ValuesDef& def, ControlFlowContext& context) {
    for (const std::string& name : def.values()) {
      if (def.external_values().contains(name)) continue;
      SLUICE_ASSIGN_OR_RETURN(const Output value, Tensor(name));
      value.node->set_context(&context);
    }
    for (const auto& [outside, inside] : def.external_values()) {
      SLUICE_ASSIGN_OR_RETURN(const Output from, Tensor(outside));
      SLUICE_ASSIGN_OR_RETURN(const Output to, Tensor(inside));
      context.SetEntered(from, to);
    }
    return absl::OkStatus();
  }

  template <typename List>
  absl::Status Nested(const List& list, ControlFlowContext* outer, int depth) {
    SLUICE_INVALID_IF(depth > kNestingMax, "contexts nest more than ", kNestingMax, " deep");
    for (const pb::ControlFlowContextDef& nested : list) {
      if (nested.has_cond_ctxt()) {
        SLUICE_RETURN_IF_ERROR(Cond(nested.cond_ctxt(), outer, depth + 1));
      } else if (nested.has_while_ctxt()) {
        SLUICE_RETURN_IF_ERROR(While(nested.while_ctxt(), outer, depth + 1));
      }
    }
    return absl::OkStatus();
  }

  const std::string prefix_;
  Graph& graph_;
};

class Exporter {
 public:
  explicit Exporter(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      ControlFlowContext* context = node->context();
      if (context == nullptr) continue;
      Meet(context);
      for (int i = 0; i < node->num_outputs(); ++i) {
        const std::string name = StrCat(node->name(), ":", i);
        values_[context].insert(name);
        // The enclosing context also lists the values of a cond, and the exits of a loop.
        ControlFlowContext* c = context;
        if (ContextOfOutputs(*node) != context) {
          if (c->outer() != nullptr) values_[c->outer()].insert(name);
        }
        while (c->kind() == ControlFlowContext::Kind::kCond && c->outer() != nullptr) {
          c = c->outer();
          values_[c].insert(name);
        }
      }
    }
  }

  void Write(pb::MetaGraphDef* meta) {
    for (ControlFlowContext* root : nested_[nullptr]) {
      const bool is_loop = root->kind() == ControlFlowContext::Kind::kWhile;
      auto* list = (*meta->mutable_collection_def())[is_loop ? kWhileContexts : kCondContexts]
                       .mutable_bytes_list();
      if (is_loop) {
        pb::WhileContextDef def;
        Fill(static_cast<const WhileContext&>(*root), &def);
        list->add_value(def.SerializeAsString());
      } else {
        pb::CondContextDef def;
        Fill(static_cast<const CondContext&>(*root), &def);
        list->add_value(def.SerializeAsString());
      }
    }
  }

 private:
  void Meet(ControlFlowContext* context) {
    for (; context != nullptr && known_.insert(context).second; context = context->outer()) {
      nested_[context->outer()].push_back(context);
    }
  }

  void FillValues(const ControlFlowContext& context, pb::ValuesDef* def) {
    std::set<std::string> values = values_[&context];
    for (const auto& [outside, inside] : context.entered()) {
      if (!outside || !inside) continue;
      values.insert(outside.name());
      (*def->mutable_external_values())[outside.name()] = inside.name();
    }
    for (const std::string& name : values) def->add_values(name);
  }

  template <typename Def>
  void FillNested(const ControlFlowContext& context, Def* def) {
    for (ControlFlowContext* inner : nested_[&context]) {
      pb::ControlFlowContextDef* nested = def->add_nested_contexts();
      if (inner->kind() == ControlFlowContext::Kind::kWhile) {
        Fill(static_cast<const WhileContext&>(*inner), nested->mutable_while_ctxt());
      } else {
        Fill(static_cast<const CondContext&>(*inner), nested->mutable_cond_ctxt());
      }
    }
  }

  void Fill(const CondContext& context, pb::CondContextDef* def) {
    def->set_context_name(context.name());
    def->set_pred_name(context.pred().name());
    def->set_pivot_name(context.pivot().name());
    def->set_branch(context.branch());
    FillValues(context, def->mutable_values_def());
    FillNested(context, def);
  }

  void Fill(const WhileContext& context, pb::WhileContextDef* def) {
    def->set_context_name(context.name());
    def->set_parallel_iterations(context.parallel_iterations());
    def->set_back_prop(context.back_prop());
    def->set_swap_memory(context.swap_memory());
    if (context.maximum_iterations()) {
      def->set_maximum_iterations_name(context.maximum_iterations().name());
    }
    def->set_pivot_name(context.pivot.name());
    def->set_pivot_for_pred_name(context.pivot_for_pred.name());
    def->set_pivot_for_body_name(context.pivot_for_body.name());
    for (const Output& exit : context.exits) def->add_loop_exit_names(exit.name());
    for (const Output& enter : context.enters) def->add_loop_enter_names(enter.name());
    FillValues(context, def->mutable_values_def());
    FillNested(context, def);
  }

  std::set<const ControlFlowContext*> known_;
  std::map<const ControlFlowContext*, std::vector<ControlFlowContext*>> nested_;  // by outer
  std::map<const ControlFlowContext*, std::set<std::string>> values_;
};

}  // namespace

absl::Status ImportContexts(const pb::MetaGraphDef& meta, std::string_view prefix, Graph& graph) {
  Importer importer(prefix, graph);
  auto each = [&](const char* key, auto message, auto import) -> absl::Status {
    auto it = meta.collection_def().find(key);
    if (it == meta.collection_def().end()) return absl::OkStatus();
    for (const std::string& bytes : it->second.bytes_list().value()) {
      SLUICE_INVALID_IF(!message.ParseFromString(bytes), "collection '", key, "': a value is no ",
                        message.GetTypeName());
      SLUICE_RETURN_IF_ERROR(import(message));
    }
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(each(kCondContexts, pb::CondContextDef(),
                              [&](const auto& def) { return importer.Cond(def, nullptr, 0); }));
  return each(kWhileContexts, pb::WhileContextDef(),
              [&](const auto& def) { return importer.While(def, nullptr, 0); });
}

void ExportContexts(const Graph& graph, pb::MetaGraphDef* meta) { Exporter(graph).Write(meta); }

}  // namespace sluice
