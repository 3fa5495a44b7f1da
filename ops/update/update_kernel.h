// Makes the kernels of update rules (rules.h). For each rule, only its loop over a range of
// elements has to be written:
//
//   template <typename T>
//   SLUICE_TARGET_CLONES void GradientDescent(const UpdateCall<kGradientDescent, T>& c,
//                                             int64_t begin, int64_t end) {
//     T* var = c.var();
//     const T* grad = c.grad();
//     const T alpha = c.scalar("alpha");
//     SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * alpha; }
//   }
//   UPDATE_KERNELS(GradientDescent, 0.4, UpdateTypes);
//
// The number 0.4 is the cost of the loop: nanoseconds per element.
//
// UpdateKernel does the rest for all four forms (UpdateForm) of all rules: it finds the tensors,
// checks them with TensorFlow's error texts, claims them, copies shared buffers, and splits the
// work. Its loops over a dense gradient, over rows, and over the tiles of a gradient that a fused
// matrix product computes (executor/kernel/matrix_tiles.h) are each written once, in
// update_kernel.cc.
//
// An update is atomic, with or without `use_locking`: the kernel holds the claims (locks,
// executor/wait/claim.h) of the variable and all slots until the update is done.
#ifndef SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_
#define SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "executor/kernel/context.h"
#include "executor/kernel/matrix_tiles.h"
#include "graph/tensor/tensor.h"
#include "ops/update/rules.h"

namespace sluice {

// The operands of a loop. Elements have the op's type T.
struct UpdateData {
  std::array<void*, 1 + UpdateRule::kSlotsMax> slots = {};  // the variable first
  int64_t offset = 0;  // of the first element that is updated, in the variable and in the slots
  const void* grad = nullptr;
  std::array<const void*, UpdateRule::kInputsMax> scalars = {};  // in the rule's order
  bool flag = false;
};

// Updates the elements [begin, end). In the variable and the slots, they are counted from element
// data.offset on, and in the gradient from data.grad on.
using UpdateFunction = void (*)(const UpdateData& data, int64_t begin, int64_t end);

// Gives a loop access to UpdateData by the names and types of a rule. A name that the rule lacks
// does not compile.
template <const UpdateRule& kRule, typename T>
class UpdateCall {
 public:
  struct SlotName {
    consteval SlotName(const char* name) : index(Known(kRule.SlotIndex(name))) {}  // NOLINT
    int index;
  };
  struct InputName {
    consteval InputName(const char* name) : index(Known(kRule.InputIndex(name))) {}  // NOLINT
    int index;
  };
  struct FlagName {
    consteval FlagName(const char* name) { Known(kRule.flag == name ? 0 : -1); }  // NOLINT
  };

  explicit UpdateCall(const UpdateData& data) : data_(data) {}

  T* var() const { return Slot(0); }
  T* slot(SlotName name) const { return Slot(1 + name.index); }
  const T* grad() const { return static_cast<const T*>(data_.grad); }
  T scalar(InputName name) const { return *static_cast<const T*>(data_.scalars[name.index]); }
  // A scalar that is declared as DT_INT64.
  int64_t integer(InputName name) const {
    return *static_cast<const int64_t*>(data_.scalars[name.index]);
  }
  bool flag(FlagName) const { return data_.flag; }

 private:
  static void NoSuchNameInTheRule() {}
  static constexpr int Known(int index) {
    if (index < 0) NoSuchNameInTheRule();  // not constexpr: stops the compiler
    return index;
  }
  T* Slot(int i) const { return static_cast<T*>(data_.slots[i]) + data_.offset; }

  const UpdateData& data_;
};

// Registers the kernels with T = `dtype` of all ops of the rule. Their loop is `function`, and
// `cost` is in nanoseconds per element.
void RegisterUpdateKernels(const UpdateRule& rule, DataType dtype, double cost,
                           UpdateFunction function);

template <typename FunctionOf, typename... Ts>
bool RegisterUpdateKernels(const UpdateRule& rule, double cost, const FunctionOf& function_of,
                           TypeList<Ts...>) {
  (RegisterUpdateKernels(rule, kDataTypeOf<Ts>, cost, function_of(std::type_identity<Ts>())), ...);
  return true;
}

// Registers the kernels of rule k<rule> for a list of types. Their loop is the function template
// <rule>.
#define UPDATE_KERNELS(rule, cost, types)                                   \
  static const bool sluice_update_##rule = ::sluice::RegisterUpdateKernels( \
      k##rule, cost,                                                        \
      []<typename T>(std::type_identity<T>) -> UpdateFunction {             \
        return [](const UpdateData& data, int64_t begin, int64_t end) {     \
          rule<T>(UpdateCall<k##rule, T>(data), begin, end);                \
        };                                                                  \
      },                                                                    \
      types())

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_
