// An update rule says how an optimizer changes one variable and its slots in one step.
//
// rules.h declares each rule once. These are made from the declaration:
//   - the ops: Apply<rule> for a variable by reference and ResourceApply<rule> for one by handle,
//     SparseApply<rule> and ResourceSparseApply<rule> for gradients of some rows (rules.cc);
//   - EmbeddingTableApply<rule> for the rows of an embedding table;
//   - the arguments of the kernel, which reads them by name (update_kernel.h);
//   - the node that a C++ optimizer builds from named inputs (training/optimizer/rule_optimizer.h).
//
// To add an optimizer with the rule Foo:
//   1. Declare kFoo in rules.h and name it at the end of rules.cc.
//   2. Write its loop in foo_kernels.cc: a function Foo<T> and UPDATE_KERNELS(Foo, …).
//   3. Write training/optimizer/foo.h and foo.cc: its options, and a class whose constructor names
//      its slots and scalars (training/optimizer/rule_optimizer.h).
//   4. Add rows to tests/oracle/cases/update_apply.py and tests/oracle/training/optimizers.cc.
#ifndef SLUICE_OPS_UPDATE_UPDATE_RULE_H_
#define SLUICE_OPS_UPDATE_UPDATE_RULE_H_

#include <string>
#include <string_view>

#include "graph/tensor/dtype.h"

namespace sluice {

// The values that a kernel allows for a scalar input, and the error text for other inputs. The
// kernel appends the shape of the input to the text. If the text is empty, the kernel says "<name>
// is not a scalar: " or, depending on the domain, "<name> is not a positive scalar: " and the like.
struct ScalarCheck {
  enum Domain { kAny, kPositive, kNonNegative, kNonPositive };
  Domain domain = kAny;
  std::string_view message = {};
};

// A slot: a variable with the optimizer's state. `label` and `sparse_label` are its names in the
// error texts of the dense and of the sparse ops.
struct UpdateSlot {
  constexpr UpdateSlot() = default;
  constexpr UpdateSlot(const char* slot) : UpdateSlot(slot, slot) {}  // NOLINT: a name is a slot
  constexpr UpdateSlot(const char* slot, const char* label) : UpdateSlot(slot, label, label) {}
  constexpr UpdateSlot(const char* slot, const char* label, const char* sparse_label)
      : name(slot), label(label), sparse_label(sparse_label) {}

  std::string_view name, label, sparse_label;
};

// Whether the input is the gradient, which the dense ops of some rules call "delta".
constexpr bool IsGradientName(std::string_view input) {
  return input == "grad" || input == "delta";
}

// An input after the variable and its slots: the gradient or a scalar.
struct UpdateInput {
  constexpr UpdateInput() = default;
  constexpr UpdateInput(const char* input) : name(input) {}  // NOLINT: a name is an input
  constexpr UpdateInput(const char* input, DataType type) : name(input), type(type) {}
  constexpr UpdateInput(const char* input, ScalarCheck check, DataType type)
      : name(input), type(type), dense(check), sparse(check) {}
  constexpr UpdateInput(const char* input, ScalarCheck check) : UpdateInput(input, check, check) {}
  constexpr UpdateInput(const char* input, ScalarCheck dense, ScalarCheck sparse)
      : name(input), dense(dense), sparse(sparse) {}

  constexpr bool is_gradient() const { return IsGradientName(name); }

  std::string_view name;
  DataType type = DT_INVALID;  // invalid: the type of the variable
  ScalarCheck dense, sparse;
};

// The form of an op: for a reference or a resource variable, for a dense or a sparse gradient.
struct UpdateForm {
  bool is_resource;
  bool is_sparse;
};

struct UpdateRule {
  static constexpr int kSlotsMax = 3;
  static constexpr int kInputsMax = 10;

  std::string_view name;                // "Adam"
  std::string_view doc;                 // one step, as formulas
  UpdateSlot slots[kSlotsMax] = {};     // after the variable, which is called "var"
  UpdateInput inputs[kInputsMax] = {};  // in order. A sparse op has the indices after the gradient
  std::string_view flag = {};           // name of an attribute of type bool, or empty
  bool flag_default = false;
  bool has_ref = true;     // exists for variables by reference
  bool has_sparse = true;  // exists for sparse gradients
  // Whether the new value of an element depends on the whole row of the element, a slice along the
  // first dimension. If so, the loop gets one whole row per call.
  bool is_row_wise = false;
  bool is_for_tables_only = false;

  constexpr int num_slots() const {
    int n = 0;
    while (n < kSlotsMax && !slots[n].name.empty()) ++n;
    return n;
  }
  constexpr int num_inputs() const {
    int n = 0;
    while (n < kInputsMax && !inputs[n].name.empty()) ++n;
    return n;
  }
  constexpr const UpdateInput& gradient() const {
    int i = 0;
    while (!inputs[i].is_gradient()) ++i;
    return inputs[i];
  }
  // Positions in `slots` and `inputs`. -1 if the name is missing.
  constexpr int SlotIndex(std::string_view slot) const {
    for (int i = 0; i < num_slots(); ++i) {
      if (slots[i].name == slot) return i;
    }
    return -1;
  }
  constexpr int InputIndex(std::string_view input) const {
    for (int i = 0; i < num_inputs(); ++i) {
      if (inputs[i].name == input) return i;
    }
    return -1;
  }

  // The name of the op of this form: "ResourceSparseApplyAdagrad".
  std::string OpName(UpdateForm form) const {
    return std::string(form.is_resource ? "Resource" : "")
        .append(form.is_sparse ? "Sparse" : "")
        .append("Apply")
        .append(name);
  }
  // The name of the op that updates rows of an embedding table. The table's records hold the slots.
  std::string TableOpName() const { return std::string("EmbeddingTableApply").append(name); }
  // Calls function(form) for each op of the rule that updates variables.
  template <typename Function>
  void ForEachForm(const Function& function) const {
    if (is_for_tables_only) return;
    for (const bool is_sparse : {false, true}) {
      if (is_sparse && !has_sparse) continue;
      if (has_ref) function(UpdateForm{.is_resource = false, .is_sparse = is_sparse});
      function(UpdateForm{.is_resource = true, .is_sparse = is_sparse});
    }
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_UPDATE_RULE_H_
