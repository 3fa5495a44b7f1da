// An array of tensors, for the time of a step. An element is written once (in the array of a
// gradient: several times, and the values add up) and, if `clear_after_read`, read once.
//
// Thread safety: all methods from any thread. Errors: INVALID_ARGUMENT with TensorFlow's texts,
// which begin with "TensorArray <name>: ".
// Reference behaviour: TensorFlow's tensor_array.h.
#ifndef SLUICE_OPS_LISTS_ARRAY_H_
#define SLUICE_OPS_LISTS_ARRAY_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/device/resource_manager.h"
#include "executor/wait/claim.h"
#include "graph/tensor/buffer.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct TensorArrayOptions {
  std::string name;
  DataType dtype = DT_INVALID;
  PartialShape element_shape;
  bool identical_element_shapes = false;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool writes_add_up = false;  // the array of a gradient
};

class TensorArrayObject final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow11TensorArrayE";

  // Whoever makes it asks first whether there is room.
  TensorArrayObject(TensorArrayOptions options, int64_t size);
  // RESOURCE_EXHAUSTED
  static absl::Status CheckSize(int64_t size);

  const std::string& name() const { return options_.name; }
  DataType dtype() const { return options_.dtype; }
  bool dynamic_size() const { return options_.dynamic_size; }
  PartialShape element_shape() const;

  absl::Status Write(Allocator& allocator, int64_t index, Tensor value);
  absl::StatusOr<Tensor> Read(Allocator& allocator, int64_t index);
  // Elements in the order of `indices`, all or none.
  absl::StatusOr<Tensors> ReadMany(Allocator& allocator, absl::Span<const int32_t> indices);
  absl::StatusOr<int64_t> Size() const;
  // What is known of the elements' shape narrows to `shape` too.
  absl::Status MergeElementShape(const PartialShape& shape);
  void Close();

  // The array for the gradients of the elements, made at the first call for a `source`: as many
  // elements as there are now, of their shapes behind `prepended`. This array grows no more.
  absl::StatusOr<std::shared_ptr<TensorArrayObject>> Gradient(const std::string& source,
                                                              const std::string& name,
                                                              const TensorShape* prepended);
  std::string DebugString() const override;

  // What old graphs' ops hand out as the array's name: container and name.
  Claim strings_claim;
  Tensor strings;

 private:
  struct Element {
    Tensor value;  // of a gradient: nothing stands for zeros of `shape`
    TensorShape shape;
    bool written = false;
    bool read = false;
    bool cleared = false;
    bool is_own = false;  // the value's memory belongs to the array: it may be added to in place
  };

  absl::Status CheckOpen() const;
  absl::Status AddTo(Allocator& allocator, int64_t index, Element& element, const Tensor& value);
  absl::StatusOr<Tensor> ReadLocked(Allocator& allocator, int64_t index);
  absl::StatusOr<Tensor> Zeros(Allocator& allocator, const TensorShape& shape) const;
  template <typename... Args>
  absl::Status Wrong(const Args&... args) const;

  TensorArrayOptions options_;  // guarded by mutex_, but for name, dtype
  mutable std::mutex mutex_;
  std::vector<Element> elements_;  // guarded by mutex_
  bool is_closed_ = false;         // guarded by mutex_
  std::map<std::string, std::shared_ptr<TensorArrayObject>>
      gradients_;  // by source; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_ARRAY_H_
