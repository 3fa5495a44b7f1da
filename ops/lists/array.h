// The resource behind the handle of a TensorArray: an array of tensors that lives as long as a
// step. An element can be written once and, with `clear_after_read`, read once. In the array of a
// gradient an element can be written several times, and the values are added.
//
// Thread safety: all methods may be called from any thread.
// Errors: INVALID_ARGUMENT with TensorFlow's texts, which begin with "TensorArray <name>: ".
// Reference: TensorFlow's tensor_array.h.
#ifndef SLUICE_OPS_LISTS_ARRAY_H_
#define SLUICE_OPS_LISTS_ARRAY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/device/resource_manager.h"
#include "executor/wait/claim.h"
#include "graph/mutex.h"
#include "graph/tensor/buffer.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct TensorArraySpec {
  std::string name;
  DataType dtype = DT_INVALID;
  PartialShape element_shape;
  bool identical_element_shapes = false;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool writes_are_added = false;  // the array of a gradient
};

class TensorArrayObject final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow11TensorArrayE";

  // `size` must pass CheckSize.
  TensorArrayObject(TensorArraySpec spec, int64_t size);
  // RESOURCE_EXHAUSTED if there is no memory for `size` elements.
  static absl::Status CheckSize(int64_t size);

  const std::string& name() const { return name_; }
  DataType dtype() const { return dtype_; }
  bool dynamic_size() const;
  PartialShape element_shape() const;

  absl::Status Write(Allocator& allocator, int64_t index, Tensor value);
  absl::StatusOr<Tensor> Read(Allocator& allocator, int64_t index);
  // Reads the elements in the order of `indices`.
  absl::StatusOr<Tensors> ReadMany(Allocator& allocator, absl::Span<const int32_t> indices);
  absl::StatusOr<int64_t> Size() const;
  // Merges the known shape of the elements with `shape`.
  absl::Status MergeElementShape(const PartialShape& shape);
  void Close();

  // Returns the array that holds the gradients of this array's elements for one gradient
  // computation, which `source` names. The first call for a `source` makes it, with as many
  // elements as this array has now; this array can then no longer grow. If `prepended` is not null,
  // the shape of each gradient is `prepended` followed by the shape of its element.
  absl::StatusOr<std::shared_ptr<TensorArrayObject>> Gradient(const std::string& source,
                                                              const std::string& name,
                                                              const TensorShape* prepended);
  std::string DebugString() const override;

  // In old graphs, an op outputs two strings, container and name, instead of a handle. In the
  // oldest graphs, it outputs a reference to `strings`, which has the two. `strings_claim` is the
  // lock of `strings`.
  Claim strings_claim;
  Tensor strings;  // guarded by strings_claim

 private:
  struct Element {
    Tensor value;  // uninitialised stands for zeros of `shape`
    TensorShape shape;
    bool written = false;
    bool read = false;
    bool cleared = false;
    bool is_own = false;  // the buffer of the value belongs to the array and may be changed
  };

  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckWrite(int64_t index, const Tensor& value) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddTo(Allocator& allocator, int64_t index, Element& element, const Tensor& value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Tensor> ReadLocked(Allocator& allocator, int64_t index)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Tensor> Zeros(Allocator& allocator, const TensorShape& shape) const;
  template <typename... Args>
  absl::Status Wrong(const Args&... args) const;

  const std::string name_;
  const DataType dtype_;
  mutable Mutex mutex_;
  TensorArraySpec spec_ ABSL_GUARDED_BY(mutex_);
  std::vector<Element> elements_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  // The arrays that Gradient has made, by `source`.
  std::map<std::string, std::shared_ptr<TensorArrayObject>> gradients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_ARRAY_H_
