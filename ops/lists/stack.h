// The resource behind the handle of a stack: tensors of one type that live as long as a step.
//
// Thread safety: all methods may be called from any thread.
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_LISTS_STACK_H_
#define SLUICE_OPS_LISTS_STACK_H_

#include <string>
#include <utility>
#include <vector>

#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class TensorStack final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow5StackE";

  // At most `max_size` elements, or any number if `max_size` is negative.
  TensorStack(std::string name, DataType type, int64_t max_size)
      : name_(std::move(name)), type_(type), max_size_(max_size) {}

  absl::Status Push(Tensor value) {
    ScopedLock lock(&mutex_);
    SLUICE_RETURN_IF_ERROR(CheckOpen());
    SLUICE_INVALID_IF(value.dtype() != type_, "Stack[", name_, "]: expected a tensor of type ",
                      DataTypeName(type_), ", got ", DataTypeName(value.dtype()));
    SLUICE_INVALID_IF(max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_, "Stack[",
                      name_, "] overflowed its max_size (", max_size_, ")");
    values_.push_back(std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<Tensor> Pop() {
    ScopedLock lock(&mutex_);
    SLUICE_RETURN_IF_ERROR(CheckOpen());
    SLUICE_INVALID_IF(values_.empty(), "Stack[", name_, "] is empty when calling Pop().");
    Tensor value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  void Close() {
    ScopedLock lock(&mutex_);
    values_.clear();
    is_closed_ = true;
  }
  DataType type() const { return type_; }
  std::string DebugString() const override {
    ScopedLock lock(&mutex_);
    return StrCat("stack '", name_, "': ", values_.size(), " elements");
  }

 private:
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!is_closed_) return absl::OkStatus();
    return InvalidArgument("Stack[", name_, "] has already been closed.");
  }

  const std::string name_;
  const DataType type_;
  const int64_t max_size_;
  mutable Mutex mutex_;
  std::vector<Tensor> values_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_STACK_H_
