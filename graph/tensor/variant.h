// Declares Variant, the element of a DT_VARIANT tensor. It holds an immutable object of any class,
// such as a tensor list, a dataset or an optional.
//
// Thread safety: copies of a Variant may be used by different threads, because their common object
// never changes.
#ifndef SLUICE_GRAPH_TENSOR_VARIANT_H_
#define SLUICE_GRAPH_TENSOR_VARIANT_H_

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace sluice {

// The base class of objects in a Variant. Copies of a Variant share one object.
class VariantObject {
 public:
  virtual ~VariantObject() = default;
  virtual std::string TypeName() const = 0;
};

class Variant {
 public:
  Variant() = default;
  explicit Variant(std::shared_ptr<const VariantObject> object) : object_(std::move(object)) {}

  bool empty() const { return object_ == nullptr; }
  std::string TypeName() const { return object_ ? object_->TypeName() : ""; }
  // Returns the object as a T. Null if there is no object or it is not a T.
  template <typename T>
  const T* get() const {
    return dynamic_cast<const T*>(object_.get());
  }

 private:
  std::shared_ptr<const VariantObject> object_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_VARIANT_H_
