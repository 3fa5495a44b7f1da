#include "executor/kernel/kernel.h"

#include <algorithm>

#include "graph/ir/graph.h"
#include "graph/strings.h"

namespace sluice {

// Returns the Bazel target with an op's kernels ("//ops/image:image_kernels"). The function is in
// //ops/builders:libraries. It is null if no family of ops is linked.
[[gnu::weak]] std::string LibraryOfKernels(std::string_view op);

namespace {

bool Allows(const TypeSet& allowed, const AttrValue& value) {
  if (const auto* type = std::get_if<DataType>(&value)) return allowed.contains(*type);
  if (const auto* types = std::get_if<std::vector<DataType>>(&value)) {
    return std::all_of(types->begin(), types->end(),
                       [&](DataType t) { return allowed.contains(t); });
  }
  return false;
}

bool Fits(const KernelDef& def, const Node& node, std::string_view device_type,
          std::string_view label) {
  if (def.device_type != device_type || def.label != label) return false;
  for (const auto& [attr, allowed] : def.constraints) {
    auto it = node.attrs().find(attr);
    if (it == node.attrs().end() || !Allows(allowed, it->second)) return false;
  }
  return true;
}

std::string DescribeKernel(const KernelDef& def) {
  std::string text = StrCat("  device='", def.device_type, "'");
  if (!def.label.empty()) StrAppend(&text, "; label='", def.label, "'");
  for (const auto& [attr, allowed] : def.constraints) {
    StrAppend(&text, "; ", attr, " in [");
    const char* separator = "";
    for (DataType t : allowed.list()) {
      StrAppend(&text, separator, AttrToString(t));
      separator = ", ";
    }
    text += "]";
  }
  return text + "\n";
}

// Says where to find kernels of an op that has none in this program. A deprecated op may have none.
std::string WhereKernelsAre(const OpDef& op) {
  const std::string library =
      LibraryOfKernels && op.deprecated_at == 0 ? LibraryOfKernels(op.name) : "";
  if (library.empty()) return "  <no registered kernels>\n";
  return StrCat("  <no registered kernels>: they are in ", library, ", which is not linked\n");
}

}  // namespace

const std::string& KernelInit::name() const { return node_.name(); }
int KernelInit::num_inputs() const { return node_.num_inputs(); }
int KernelInit::num_outputs() const { return node_.num_outputs(); }
DataType KernelInit::input_type(int i) const { return node_.input_type(i); }
DataType KernelInit::output_type(int i) const { return node_.output_type(i); }

std::pair<int, int> KernelInit::InputRange(std::string_view arg) const {
  const int i = node_.def().InputIndex(arg);
  return i < 0 ? std::pair<int, int>{0, 0} : node_.InputRange(i);
}

std::pair<int, int> KernelInit::OutputRange(std::string_view arg) const {
  const int i = node_.def().OutputIndex(arg);
  return i < 0 ? std::pair<int, int>{0, 0} : node_.OutputRange(i);
}

const AttrValue& KernelInit::FindAttr(std::string_view attr_name) const {
  static const AttrValue* absent = new AttrValue;
  auto it = node_.attrs().find(attr_name);
  return it == node_.attrs().end() ? *absent : it->second;
}

KernelRegistry& KernelRegistry::Global() {
  static KernelRegistry* registry = new KernelRegistry;
  return *registry;
}

void KernelRegistry::Add(KernelDef def) {
  std::vector<KernelDef>& of_op = kernels_[def.op];
  of_op.push_back(std::move(def));
}

const std::vector<KernelDef>& KernelRegistry::For(std::string_view op) const {
  static const std::vector<KernelDef>* none = new std::vector<KernelDef>;
  auto it = kernels_.find(op);
  return it == kernels_.end() ? *none : it->second;
}

absl::StatusOr<const KernelDef*> KernelRegistry::Find(const Node& node,
                                                      std::string_view device_type) const {
  const std::string* label = node.FindAttr<std::string>("_kernel");
  for (const KernelDef& def : For(node.op())) {
    if (Fits(def, node, device_type, label ? std::string_view(*label) : "")) return &def;
  }
  std::string attrs;
  for (const auto& [name, value] : node.attrs()) {
    if (name.starts_with("_") && name != "_kernel") continue;
    StrAppend(&attrs, attrs.empty() ? "" : ", ", name, "=", AttrToString(value));
  }
  std::string registered;
  for (const KernelDef& def : For(node.op())) registered += DescribeKernel(def);
  if (registered.empty()) registered = WhereKernelsAre(node.def());
  return absl::NotFoundError(StrCat("No OpKernel was registered to support Op '", node.op(),
                                    "' used by {{node ", node.name(), "}} with these attrs: [",
                                    attrs, "]\nRegistered devices: [", device_type,
                                    "]\nRegistered kernels:\n", registered));
}

absl::StatusOr<std::unique_ptr<Kernel>> KernelRegistry::Make(KernelInit& init,
                                                             std::string_view device_type) const {
  SLUICE_ASSIGN_OR_RETURN(const KernelDef* def, Find(init.node(), device_type));
  return def->make(init);
}

}  // namespace sluice
