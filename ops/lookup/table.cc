#include "ops/lookup/table.h"

#include <algorithm>
#include <cstring>

#include "graph/status.h"

namespace sluice {

absl::Status LookupTable::Initialize(const Tensor&, const Tensor&) {
  return InvalidArgument("Table localhost ", spec_.name, " is not initializable");
}

std::string LookupTable::DebugString() const {
  return StrCat("table '", spec_.name, "': ", size(), " keys");
}

absl::StatusOr<TensorShape> LookupTable::ValuesShape(const Tensor& keys) const {
  TensorShape shape = keys.shape();
  const TensorShape& key = spec_.key_shape;
  const int prefix = shape.rank() - key.rank();
  bool fits = prefix >= 0;
  for (int i = 0; fits && i < key.rank(); ++i) fits = shape.dim(prefix + i) == key.dim(i);
  if (!fits) {
    return InvalidArgument("Input key shape ", shape.ToString(),
                           " must end with the table's key shape ", key.ToString());
  }
  for (int i = 0; i < key.rank(); ++i) shape.RemoveDim(shape.rank() - 1);
  for (int64_t size : spec_.value_shape.dims()) shape.AddDim(size);
  return shape;
}

absl::Status LookupTable::CheckDefault(const Tensor& keys, const Tensor& default_value) const {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape all, ValuesShape(keys));
  const TensorShape& one = spec_.value_shape;
  if (default_value.shape() == one || default_value.shape() == all) return absl::OkStatus();
  return InvalidArgument("Expected shape ", one.ToString(), " or ", all.ToString(),
                         " for default value, got ", default_value.shape().ToString());
}

absl::Status LookupTable::CheckValues(const Tensor& keys, const Tensor& values) const {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape expected, ValuesShape(keys));
  if (values.shape() == expected) return absl::OkStatus();
  return InvalidArgument("Expected shape ", expected.ToString(), " for value, got ",
                         values.shape().ToString());
}

namespace {

template <typename T>
void CopyAs(const Tensor& from, int64_t from_row, int64_t elements, Tensor* to, int64_t to_row) {
  std::copy_n(from.data<T>() + from_row * elements, elements, to->data<T>() + to_row * elements);
}

}  // namespace

void CopyRow(const Tensor& from, int64_t from_row, int64_t elements, Tensor* to, int64_t to_row) {
  switch (from.dtype()) {
    case DT_STRING:
      return CopyAs<std::string>(from, from_row, elements, to, to_row);
    case DT_RESOURCE:
      return CopyAs<ResourceHandle>(from, from_row, elements, to, to_row);
    case DT_VARIANT:
      return CopyAs<Variant>(from, from_row, elements, to, to_row);
    default:
      break;
  }
  const size_t bytes = DataTypeSize(from.dtype()) * static_cast<size_t>(elements);
  if (bytes == 0) return;
  std::memcpy(static_cast<char*>(to->raw()) + static_cast<size_t>(to_row) * bytes,
              static_cast<const char*>(from.raw()) + static_cast<size_t>(from_row) * bytes, bytes);
}

}  // namespace sluice
