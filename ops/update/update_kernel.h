// One step of an optimizer on one variable and its slots: what all Apply ops share.
//
// An algorithm is a function over one range of elements. Everything else is written once, here, for
// variables by reference and by handle, for dense gradients and for gradients of some rows: finding
// the tensors, TensorFlow's checks and messages, locks, copies of what is shared, shards.
//
// The update is atomic whether or not `use_locking` is set: the claims of all variables involved
// are held, taken in one order by everybody.
#ifndef SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_
#define SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "executor/kernel/matrix_tiles.h"
#include "graph/tensor/tensor.h"

namespace sluice {

inline constexpr int kSlotsMax = 4;  // the variable and up to three more, and vhat
inline constexpr int kScalarsMax = 7;

// What an algorithm sees of a call. Elements are of the op's type T.
struct UpdateCall {
  std::array<void*, kSlotsMax> slots = {};  // the variable, then its slots
  const void* grad = nullptr;
  std::array<const void*, kScalarsMax> scalars = {};
  int64_t global_step = 0;  // AdagradDA only
  bool nesterov = false;
  bool update_slots = true;
  bool multiply_linear_by_lr = false;

  template <typename T>
  T* slot(int i) const {
    return static_cast<T*>(slots[i]);
  }
  template <typename T>
  const T* gradient() const {
    return static_cast<const T*>(grad);
  }
  template <typename T>
  T scalar(int i) const {
    return *static_cast<const T*>(scalars[i]);
  }
};

// Updates elements [begin, end); of the variable and slots, counted from `row`, and of the
// gradient.
using UpdateFunction = void (*)(const UpdateCall& call, int64_t row, int64_t begin, int64_t end);

// A hyper-parameter: an input, and what is said when it is not a scalar (or not in its domain).
struct ScalarSpec {
  enum class Domain { kAny, kPositive, kNonNegative, kNonPositive };
  std::string name;
  std::string message;  // the shape follows
  Domain domain = Domain::kAny;
};

struct UpdateSpec {
  std::vector<std::string> slots;   // inputs: the variable first
  std::vector<ScalarSpec> scalars;  // inputs
  std::string gradient = "grad";    // input
  // Slots as messages call them, where that differs from the input's name.
  std::vector<std::string> slot_labels;
  double cost = 1;  // nanoseconds an element, roughly
};

// A kernel that follows `spec`: dense, or sparse if the op has an input "indices".
class UpdateKernel : public Kernel, public TileTaker {
 public:
  UpdateKernel(KernelInit& init, const UpdateSpec& spec, UpdateFunction function);
  absl::Status Compute(KernelContext& c) override;
  // A dense gradient.
  int tiled_input() const override { return indices_input_ < 0 ? grad_input_ : -1; }
  absl::Status ComputeFromTiles(KernelContext& c, const TileMaker& maker, const Tensor& a,
                                const Tensor& b) override;

 private:
  class Targets;
  absl::Status Open(KernelContext& c, Targets& targets, UpdateCall* call) const;
  static absl::Status TakeSlots(KernelContext& c, Targets& targets, UpdateCall* call);
  void SetOutput(KernelContext& c) const;
  absl::Status CheckScalars(KernelContext& c, UpdateCall* call) const;
  absl::Status CheckDense(const Targets& targets, const TensorShape& grad) const;
  absl::Status CheckSparse(const Targets& targets, const Tensor& grad, const Tensor& indices) const;
  absl::Status CheckSlots(const Targets& targets) const;
  void RunSparse(KernelContext& c, const UpdateCall& call, const Tensor& var,
                 const Tensor& indices) const;

  const UpdateSpec spec_;
  const UpdateFunction function_;
  const DataType dtype_;
  std::vector<int> slot_inputs_;
  std::vector<int> scalar_inputs_;
  int grad_input_ = -1;
  int indices_input_ = -1;  // -1: dense
  int global_step_input_ = -1;
  bool is_resource_ = false;
  UpdateCall flags_;  // attributes; the rest is filled in for each call
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_UPDATE_KERNEL_H_
