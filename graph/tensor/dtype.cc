#include "graph/tensor/dtype.h"

#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {
namespace {

struct Row {
  DataType type;
  const char* name;
};

constexpr Row kRows[] = {
    {DT_FLOAT, "float"},
    {DT_DOUBLE, "double"},
    {DT_INT32, "int32"},
    {DT_UINT8, "uint8"},
    {DT_INT16, "int16"},
    {DT_INT8, "int8"},
    {DT_STRING, "string"},
    {DT_COMPLEX64, "complex64"},
    {DT_INT64, "int64"},
    {DT_BOOL, "bool"},
    {DT_QINT8, "qint8"},
    {DT_QUINT8, "quint8"},
    {DT_QINT32, "qint32"},
    {DT_BFLOAT16, "bfloat16"},
    {DT_QINT16, "qint16"},
    {DT_QUINT16, "quint16"},
    {DT_UINT16, "uint16"},
    {DT_COMPLEX128, "complex128"},
    {DT_HALF, "half"},
    {DT_RESOURCE, "resource"},
    {DT_VARIANT, "variant"},
    {DT_UINT32, "uint32"},
    {DT_UINT64, "uint64"},
    {DT_FLOAT8_E5M2, "float8_e5m2"},
    {DT_FLOAT8_E4M3FN, "float8_e4m3fn"},
    {DT_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz"},
    {DT_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz"},
    {DT_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz"},
    {DT_INT4, "int4"},
    {DT_UINT4, "uint4"},
    {DT_INT2, "int2"},
    {DT_UINT2, "uint2"},
    {DT_FLOAT4_E2M1FN, "float4_e2m1fn"},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string DataTypeName(DataType t) {
  const DataType base = BaseType(t);
  for (const Row& row : kRows) {
    if (row.type == base) return IsRefType(t) ? std::string(row.name) + "_ref" : row.name;
  }
  return "<invalid>";
}

DataType DataTypeFromName(std::string_view name) {
  std::string lower;
  for (char c : name) lower.push_back(Lower(c));
  if (lower.starts_with("dt_")) lower.erase(0, 3);
  const bool is_ref = lower.ends_with("_ref");
  if (is_ref) lower.resize(lower.size() - 4);
  for (const Row& row : kRows) {
    if (lower == row.name) return is_ref ? MakeRefType(row.type) : row.type;
  }
  return DT_INVALID;
}

std::vector<DataType> TypeSet::list() const {
  std::vector<DataType> types;
  for (int t = 1; t < kDataTypeCount; ++t) {
    if (contains(static_cast<DataType>(t))) types.push_back(static_cast<DataType>(t));
  }
  return types;
}

std::string TypeSet::ToString() const {
  std::string text;
  for (DataType t : list()) {
    if (!text.empty()) text += ", ";
    text += DataTypeName(t);
  }
  return text;
}

}  // namespace sluice
