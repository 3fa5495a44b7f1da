#include "tools/commands/ops_against.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "executor/kernel/kernel.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// The signature of a kernel: its types, by attribute.
using Signature = std::vector<std::pair<std::string, DataType>>;

const Value* FieldOf(const Struct& row, const std::string& name) {
  auto it = row.fields().find(name);
  return it == row.fields().end() ? nullptr : &it->second;
}
std::string TextOf(const Struct& row, const std::string& name) {
  const Value* value = FieldOf(row, name);
  return value == nullptr ? "" : value->string_value();
}

absl::StatusOr<ListValue> ReadRows(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot open '", path, "'"));
  std::stringstream content;
  content << file.rdbuf();
  ListValue rows;
  const auto parsed = google::protobuf::util::JsonStringToMessage(content.str(), &rows);
  if (!parsed.ok()) {
    return InvalidArgument("'", path, "': expected a JSON array of ops, got one that ends in: ",
                           std::string(parsed.message()).substr(0, 200));
  }
  return rows;
}

// Whether a kernel supports these types. Attributes that are not in the signature may have any
// type.
bool HasKernel(const std::vector<KernelDef>& kernels, const Signature& types) {
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelDef& kernel) {
    return std::all_of(types.begin(), types.end(), [&](const auto& type) {
      return std::all_of(
          kernel.constraints.begin(), kernel.constraints.end(), [&](const auto& allowed) {
            return allowed.first != type.first || allowed.second.contains(type.second);
          });
    });
  });
}

// Whether the op's declaration has the attribute and allows the type for it. Otherwise a kernel
// registered for the type can never run (TileGrad).
bool IsAllowed(const OpDef& op, const std::string& attr_name, DataType dtype) {
  const AttrDef* attr = op.FindAttr(attr_name);
  return attr != nullptr && (attr->allowed_types.empty() || attr->allowed_types.contains(dtype));
}

// All combinations of the types in one element of "cpu".
std::vector<Signature> SignaturesOf(const Struct& group, const OpDef& op) {
  std::vector<Signature> all = {{}};
  const std::map<std::string, Value> sorted(group.fields().begin(), group.fields().end());
  for (const auto& [attr, types] : sorted) {
    std::vector<Signature> longer;
    for (const Signature& signature : all) {
      for (const Value& type : types.list_value().values()) {
        const DataType dtype = DataTypeFromName(type.string_value());
        if (!IsAllowed(op, attr, dtype)) continue;
        longer.push_back(signature);
        longer.back().emplace_back(attr, dtype);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Signatures that only TensorFlow has a kernel for: "T=half", "SrcT=float DstT=int8", ….
std::set<std::string> MissingTypes(const Struct& row, const OpDef& op) {
  std::set<std::string> missing;
  if (RunsWithoutKernel(op.traits.role)) return missing;
  const std::vector<KernelDef>& kernels = KernelRegistry::Global().For(TextOf(row, "op"));
  if (FieldOf(row, "any_device") != nullptr && kernels.empty()) missing.insert("any");
  const Value* groups = FieldOf(row, "cpu");
  if (groups == nullptr) return missing;
  for (const Value& group : groups->list_value().values()) {
    if (FieldOf(group.struct_value(), "label") != nullptr) continue;
    for (const Signature& signature : SignaturesOf(group.struct_value(), op)) {
      if (HasKernel(kernels, signature)) continue;
      const std::string types =
          absl::StrJoin(signature, " ", [](std::string* out, const auto& type) {
            StrAppend(out, type.first, "=", DataTypeName(type.second));
          });
      missing.insert(types.empty() ? "any" : types);
    }
  }
  return missing;
}

bool LacksGradient(const Struct& row, const OpDef& op) {
  const std::string theirs = TextOf(row, "grad");
  return !theirs.empty() && theirs != "not_differentiable" && !op.gradient &&
         !op.not_differentiable;
}

struct Tier {
  int ops = 0;
  int types = 0;
  std::vector<std::string> missing_ops;
  std::vector<std::string> missing_types;  // one line per op
  std::vector<std::string> missing_gradients;
};

void Consider(const Struct& row, Tier* tier) {
  ++tier->ops;
  const std::string name = TextOf(row, "op");
  const std::string shown = StrCat(name, " (", TextOf(row, "group"), ")");
  const OpDef* op = OpRegistry::Global().Find(name);
  if (op == nullptr) {
    tier->missing_ops.push_back(shown);
    return;
  }
  if (const std::set<std::string> types = MissingTypes(row, *op); !types.empty()) {
    tier->types += static_cast<int>(types.size());
    tier->missing_types.push_back(StrCat(shown, ": ", absl::StrJoin(types, ", ")));
  }
  if (LacksGradient(row, *op)) tier->missing_gradients.push_back(shown);
}

void Print(const char* what, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("  %s  %s\n", what, line.c_str());
}

}  // namespace

absl::Status PrintOpsAgainst(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const ListValue rows, ReadRows(path));
  std::map<int, Tier> tiers;
  for (const Value& row : rows.values()) {
    if (!row.has_struct_value() || TextOf(row.struct_value(), "op").empty()) {
      return InvalidArgument("'", path, "': expected objects with \"op\", got something else");
    }
    const Value* tier = FieldOf(row.struct_value(), "tier");
    Consider(row.struct_value(),
             &tiers[tier == nullptr ? 0 : static_cast<int>(tier->number_value())]);
  }
  for (const auto& [number, tier] : tiers) {
    std::printf(
        "tier %d: %d ops, %zu missing; %d types of kernels missing in %zu ops; %zu gradients "
        "missing\n",
        number, tier.ops, tier.missing_ops.size(), tier.types, tier.missing_types.size(),
        tier.missing_gradients.size());
    Print("op", tier.missing_ops);
    Print("types", tier.missing_types);
    Print("gradient", tier.missing_gradients);
  }
  return absl::OkStatus();
}

}  // namespace sluice
