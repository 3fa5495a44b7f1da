#include "graph/tensor/dtype.h"

#include <array>

#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {
namespace {

struct Row {
  DataType type;
  const char* name;
  size_t size;
};

constexpr Row kRows[] = {
    {DT_FLOAT, "float", 4},
    {DT_DOUBLE, "double", 8},
    {DT_INT32, "int32", 4},
    {DT_UINT8, "uint8", 1},
    {DT_INT16, "int16", 2},
    {DT_INT8, "int8", 1},
    {DT_STRING, "string", 0},
    {DT_COMPLEX64, "complex64", 8},
    {DT_INT64, "int64", 8},
    {DT_BOOL, "bool", 1},
    {DT_QINT8, "qint8", 1},
    {DT_QUINT8, "quint8", 1},
    {DT_QINT32, "qint32", 4},
    {DT_BFLOAT16, "bfloat16", 2},
    {DT_QINT16, "qint16", 2},
    {DT_QUINT16, "quint16", 2},
    {DT_UINT16, "uint16", 2},
    {DT_COMPLEX128, "complex128", 16},
    {DT_HALF, "half", 2},
    {DT_RESOURCE, "resource", 0},
    {DT_VARIANT, "variant", 0},
    {DT_UINT32, "uint32", 4},
    {DT_UINT64, "uint64", 8},
    {DT_FLOAT8_E5M2, "float8_e5m2", 1},
    {DT_FLOAT8_E4M3FN, "float8_e4m3fn", 1},
    {DT_FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 1},
    {DT_FLOAT8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 1},
    {DT_FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 1},
    {DT_INT4, "int4", 1},
    {DT_UINT4, "uint4", 1},
    {DT_INT2, "int2", 1},
    {DT_UINT2, "uint2", 1},
    {DT_FLOAT4_E2M1FN, "float4_e2m1fn", 1},
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

size_t DataTypeSize(DataType t) {
  static constexpr auto kSizes = [] {
    std::array<uint8_t, kDataTypeCount> sizes{};
    for (const Row& row : kRows) sizes[row.type] = static_cast<uint8_t>(row.size);
    return sizes;
  }();
  const DataType base = BaseType(t);
  return base > 0 && base < kDataTypeCount ? kSizes[base] : 0;
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
