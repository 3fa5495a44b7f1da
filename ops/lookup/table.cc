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
  SLUICE_INVALID_IF(!fits, "Input key shape ", shape.ToString(),
                    " must end with the table's key shape ", key.ToString());
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

bool IsSameRow(const Tensor& a, int64_t a_row, const Tensor& b, int64_t b_row, int64_t elements) {
  if (a.dtype() == DT_STRING) {
    const std::string* row = a.data<std::string>() + a_row * elements;
    return std::equal(row, row + elements, b.data<std::string>() + b_row * elements);
  }
  const auto bytes = static_cast<int64_t>(DataTypeSize(a.dtype())) * elements;
  return std::memcmp(static_cast<const char*>(a.raw()) + a_row * bytes,
                     static_cast<const char*>(b.raw()) + b_row * bytes,
                     static_cast<size_t>(bytes)) == 0;
}

}  // namespace sluice
