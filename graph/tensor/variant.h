// The element of a DT_VARIANT tensor: any immutable object (a tensor list, a dataset, an optional).
//
// Thread safety: a value; the object never changes.
#ifndef SLUICE_GRAPH_TENSOR_VARIANT_H_
#define SLUICE_GRAPH_TENSOR_VARIANT_H_

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace sluice {

// The object in a variant. Copies of a Variant share it.
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
  // Null if empty or of another class.
  template <typename T>
  const T* get() const {
    return dynamic_cast<const T*>(object_.get());
  }

 private:
  std::shared_ptr<const VariantObject> object_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_VARIANT_H_
