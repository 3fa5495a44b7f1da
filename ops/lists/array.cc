#include "ops/lists/array.h"

#include <cstring>
#include <utility>

#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/loops/arithmetic.h"

namespace sluice {

TensorArrayObject::TensorArrayObject(TensorArraySpec spec, int64_t size)
    : name_(spec.name),
      dtype_(spec.dtype),
      spec_(std::move(spec)),
      elements_(static_cast<size_t>(size)) {}

absl::Status TensorArrayObject::CheckSize(int64_t size) {
  return CheckRoom(size, sizeof(Element), "elements of a TensorArray");
}

template <typename... Args>
absl::Status TensorArrayObject::Wrong(const Args&... args) const {
  return InvalidArgument("TensorArray ", name_, ": ", args...);
}

absl::Status TensorArrayObject::CheckOpen() const {
  if (!is_closed_) return absl::OkStatus();
  return InvalidArgument("TensorArray ", name_, " has already been closed.");
}

bool TensorArrayObject::dynamic_size() const {
  ScopedLock lock(&mutex_);
  return spec_.dynamic_size;
}

PartialShape TensorArrayObject::element_shape() const {
  ScopedLock lock(&mutex_);
  return spec_.element_shape;
}

absl::Status TensorArrayObject::CheckWrite(int64_t index, const Tensor& value) const {
  SLUICE_RETURN_IF_ERROR(CheckOpen());
  const int64_t size = static_cast<int64_t>(elements_.size());
  if (index < 0 || (!spec_.dynamic_size && index >= size)) {
    return Wrong("Tried to write to index ", index,
                 " but array is not resizeable and size is: ", size);
  }
  if (value.dtype() != dtype_) {
    return Wrong("Could not write to TensorArray index ", index, " because the value dtype is ",
                 DataTypeName(value.dtype()), " but TensorArray dtype is ", DataTypeName(dtype_),
                 ".");
  }
  if (!spec_.element_shape.IsCompatibleWith(value.shape())) {
    return Wrong("Could not write to TensorArray index ", index, " because the value shape is ",
                 value.shape().ToString(),
                 " which is incompatible with the TensorArray's inferred element shape: ",
                 spec_.element_shape.ToString(), " (consider setting infer_shape=False).");
  }
  return absl::OkStatus();
}

absl::Status TensorArrayObject::Write(Allocator& allocator, int64_t index, Tensor value) {
  ScopedLock lock(&mutex_);
  SLUICE_RETURN_IF_ERROR(CheckWrite(index, value));
  if (spec_.identical_element_shapes && !spec_.element_shape.IsFullyDefined()) {
    spec_.element_shape = value.shape();
  }
  if (index >= static_cast<int64_t>(elements_.capacity())) {
    SLUICE_RETURN_IF_ERROR(CheckSize(index + 1));
  }
  if (index >= static_cast<int64_t>(elements_.size())) {
    elements_.resize(static_cast<size_t>(index) + 1);
  }
  Element& element = elements_[static_cast<size_t>(index)];
  if (element.read) {
    return Wrong("Could not write to TensorArray index ", index,
                 " because it has already been read.");
  }
  if (element.written && !spec_.writes_are_added) {
    return Wrong("Could not write to TensorArray index ", index,
                 " because it has already been written to.");
  }
  if (element.written) return AddTo(allocator, index, element, value);
  element.shape = value.shape();
  element.value = std::move(value);
  element.written = true;
  return absl::OkStatus();
}

absl::Status TensorArrayObject::AddTo(Allocator& allocator, int64_t index, Element& element,
                                      const Tensor& value) {
  if (!(element.shape == value.shape())) {
    return Wrong("Could not aggregate to TensorArray index ", index,
                 " because the existing shape is ", element.shape.ToString(),
                 " but the new input shape is ", value.shape().ToString(), ".");
  }
  if (!element.value.IsInitialized()) {
    element.value = value;
    return absl::OkStatus();
  }
  const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, dtype_);
  if (add == nullptr) {
    return Wrong("gradients of type ", DataTypeName(dtype_), " cannot be added");
  }
  if (!element.is_own) {
    SLUICE_ASSIGN_OR_RETURN(element.value, element.value.Clone(allocator));
    element.is_own = true;
  }
  add(element.value.raw(), value.raw(), value.num_elements());
  return absl::OkStatus();
}

absl::StatusOr<Tensor> TensorArrayObject::Zeros(Allocator& allocator,
                                                const TensorShape& shape) const {
  if (!IsPlainBytes(dtype_)) {
    return Wrong("expected an element that was written, because there are no zeros of type ",
                 DataTypeName(dtype_), " (tensor_array::TensorSetZero type not supported)");
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(allocator, dtype_, shape));
  if (zeros.bytes() > 0) std::memset(zeros.raw(), 0, zeros.bytes());
  return zeros;
}

absl::StatusOr<Tensor> TensorArrayObject::ReadLocked(Allocator& allocator, int64_t index) {
  SLUICE_RETURN_IF_ERROR(CheckOpen());
  if (index < 0 || index >= static_cast<int64_t>(elements_.size())) {
    return Wrong("Tried to read from index ", index, " but array size is: ", elements_.size());
  }
  Element& element = elements_[static_cast<size_t>(index)];
  if (element.cleared) {
    return Wrong("Could not read index ", index, " twice because it was cleared after a previous ",
                 "read (perhaps try setting clear_after_read = false?).");
  }
  if (!element.written) {
    if (!spec_.element_shape.IsFullyDefined()) {
      return Wrong("Could not read from TensorArray index ", index,
                   ".  Furthermore, the element shape is not fully defined: ",
                   spec_.element_shape.ToString(),
                   ".  It is possible you are working with a resizeable TensorArray and ",
                   "stop_gradients is not allowing the gradients to be written.  If you set the ",
                   "full element_shape property on the forward TensorArray, the proper all-zeros ",
                   "tensor will be returned instead of incurring this error.");
    }
    element.shape = spec_.element_shape.AsShape();
    element.written = true;
  }
  if (!element.value.IsInitialized()) {
    SLUICE_ASSIGN_OR_RETURN(element.value, Zeros(allocator, element.shape));
  }
  element.read = true;
  if (!spec_.clear_after_read) return element.value;
  element.cleared = true;
  return std::exchange(element.value, Tensor());
}

absl::StatusOr<Tensor> TensorArrayObject::Read(Allocator& allocator, int64_t index) {
  ScopedLock lock(&mutex_);
  return ReadLocked(allocator, index);
}

absl::StatusOr<Tensors> TensorArrayObject::ReadMany(Allocator& allocator,
                                                    absl::Span<const int32_t> indices) {
  ScopedLock lock(&mutex_);
  Tensors values;
  values.reserve(indices.size());
  for (int32_t index : indices) {
    SLUICE_ASSIGN_OR_RETURN(Tensor value, ReadLocked(allocator, index));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<int64_t> TensorArrayObject::Size() const {
  ScopedLock lock(&mutex_);
  SLUICE_RETURN_IF_ERROR(CheckOpen());
  return static_cast<int64_t>(elements_.size());
}

absl::Status TensorArrayObject::MergeElementShape(const PartialShape& shape) {
  ScopedLock lock(&mutex_);
  absl::StatusOr<PartialShape> merged = spec_.element_shape.MergeWith(shape);
  if (!merged.ok()) {
    return Wrong("expected elements of shape ", spec_.element_shape.ToString(), ", got ",
                 shape.ToString());
  }
  spec_.element_shape = *std::move(merged);
  return absl::OkStatus();
}

void TensorArrayObject::Close() {
  ScopedLock lock(&mutex_);
  elements_.clear();
  gradients_.clear();
  is_closed_ = true;
}

absl::StatusOr<std::shared_ptr<TensorArrayObject>> TensorArrayObject::Gradient(
    const std::string& source, const std::string& name, const TensorShape* prepended) {
  ScopedLock lock(&mutex_);
  SLUICE_RETURN_IF_ERROR(CheckOpen());
  SLUICE_INVALID_IF(
      spec_.writes_are_added, "Unable to create a gradients TensorArray for ", name_,
      ".  Perhaps you used the multiple_writes_aggregate flag on a previous write?  Gradient ",
      "calculation is impossible when multiple writes are performed to the same index.");
  std::shared_ptr<TensorArrayObject>& gradient = gradients_[source];
  if (gradient != nullptr) return gradient;
  spec_.dynamic_size = false;
  TensorArraySpec spec = spec_;
  spec.name = name;
  spec.writes_are_added = true;
  spec.clear_after_read = true;
  const auto with_prefix = [&](const TensorShape& shape) {
    TensorShape whole = *prepended;
    for (int64_t d : shape.dims()) whole.AddDim(d);
    return whole;
  };
  if (prepended != nullptr) {
    spec.element_shape = PartialShape(*prepended).Concatenate(spec_.element_shape);
  }
  gradient = std::make_shared<TensorArrayObject>(spec, static_cast<int64_t>(elements_.size()));
  ScopedLock gradient_lock(&gradient->mutex_);
  for (size_t i = 0; i < elements_.size(); ++i) {
    const Element& from = elements_[i];
    if (!from.written) continue;
    Element& to = gradient->elements_[i];
    to.shape = prepended != nullptr ? with_prefix(from.shape) : from.shape;
    to.written = true;
  }
  return gradient;
}

std::string TensorArrayObject::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("TensorArray '", name_, "': ", elements_.size(), " elements");
}

}  // namespace sluice
