// A tensor list, which ops pass in a variant tensor: tensors of one type, some of which may not be
// set.
//
// A list is immutable. Lists that were made from each other by pushing and popping share storage.
// Pushing extends the storage in place if the storage has no elements behind those of the list. So
// a series of pushes takes constant time per element, and so does a series of pops. A push to a
// list from which elements were popped, and setting an element, copy the list, but not the buffers
// of its tensors.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_OPS_LISTS_TENSOR_LIST_H_
#define SLUICE_OPS_LISTS_TENSOR_LIST_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/variant.h"

namespace sluice {

class TensorList final : public VariantObject {
 public:
  TensorList(DataType dtype, PartialShape element_shape, Tensors elements,
             int64_t max_num_elements = -1)
      : dtype_(dtype),
        element_shape_(std::move(element_shape)),
        max_num_elements_(max_num_elements),
        size_(elements.size()),
        store_(std::make_shared<Store>(std::move(elements))) {}

  DataType dtype() const { return dtype_; }
  const PartialShape& element_shape() const { return element_shape_; }
  int64_t max_num_elements() const { return max_num_elements_; }
  int64_t size() const { return static_cast<int64_t>(size_); }
  // Element `i`. The tensor is uninitialised if the element was never set.
  Tensor element(int64_t i) const {
    ScopedLock lock(&store_->mutex);
    return store_->elements[static_cast<size_t>(i)];
  }
  Tensors elements() const {
    ScopedLock lock(&store_->mutex);
    return Tensors(store_->elements.begin(),
                   store_->elements.begin() + static_cast<std::ptrdiff_t>(size_));
  }

  std::shared_ptr<TensorList> WithPushed(Tensor value) const {
    {
      ScopedLock lock(&store_->mutex);
      if (store_->elements.size() == size_) {
        store_->elements.push_back(std::move(value));
        return std::shared_ptr<TensorList>(new TensorList(*this, size_ + 1));
      }
    }
    Tensors all = elements();
    all.push_back(std::move(value));
    return With(std::move(all));
  }
  // The list must not be empty.
  std::shared_ptr<TensorList> WithoutLast() const {
    return std::shared_ptr<TensorList>(new TensorList(*this, size_ - 1));
  }
  std::shared_ptr<TensorList> With(Tensors elements) const {
    return std::make_shared<TensorList>(dtype_, element_shape_, std::move(elements),
                                        max_num_elements_);
  }
  std::string TypeName() const override { return "tensorflow::TensorList"; }

 private:
  struct Store {
    explicit Store(Tensors initial) : elements(std::move(initial)) {}
    Mutex mutex;
    Tensors elements ABSL_GUARDED_BY(mutex);
  };
  TensorList(const TensorList& other, size_t size)
      : dtype_(other.dtype_),
        element_shape_(other.element_shape_),
        max_num_elements_(other.max_num_elements_),
        size_(size),
        store_(other.store_) {}

  const DataType dtype_;
  const PartialShape element_shape_;
  const int64_t max_num_elements_;
  const size_t size_;
  const std::shared_ptr<Store> store_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_TENSOR_LIST_H_
