// Element types of tensors: TensorFlow's DataType with its numbers and names, and the C++ types of
// those that have one.
//
// A number above 100 is the reference form of the type (number - 100). The output of a reference
// variable (op VariableV2) has such a type.
// Thread safety: pure functions and values.
#ifndef SLUICE_GRAPH_TENSOR_DTYPE_H_
#define SLUICE_GRAPH_TENSOR_DTYPE_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor/float16.h"

namespace sluice {

enum DataType : int32_t {
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23,
  DT_FLOAT8_E5M2 = 24,
  DT_FLOAT8_E4M3FN = 25,
  DT_FLOAT8_E4M3FNUZ = 26,
  DT_FLOAT8_E4M3B11FNUZ = 27,
  DT_FLOAT8_E5M2FNUZ = 28,
  DT_INT4 = 29,
  DT_UINT4 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_FLOAT4_E2M1FN = 33,
};

inline constexpr int kDataTypeRefOffset = 100;
inline constexpr int kDataTypeCount = 34;  // one past the last non-ref type

inline bool IsRefType(DataType t) { return t > kDataTypeRefOffset; }
inline DataType MakeRefType(DataType t) {
  return IsRefType(t) ? t : static_cast<DataType>(t + kDataTypeRefOffset);
}
inline DataType BaseType(DataType t) {
  return IsRefType(t) ? static_cast<DataType>(t - kDataTypeRefOffset) : t;
}
inline bool IsValidDataType(int32_t t) {
  const int32_t base = t > kDataTypeRefOffset ? t - kDataTypeRefOffset : t;
  return base > 0 && base < kDataTypeCount;
}

// Returns "float", "int32", "half" and so on. The name of a reference type ends in "_ref". Returns
// "<invalid>" for DT_INVALID and for numbers outside the enum.
std::string DataTypeName(DataType t);
// Returns the type with this name ("float", "float_ref"), which may be spelled like the enumerator
// ("DT_FLOAT"). Ignores case. DT_INVALID if the name is unknown.
DataType DataTypeFromName(std::string_view name);

// Bytes of one element, indexed by DataType. The table is not a local of DataTypeSize, because
// compilers would then build it on the stack at each call.
inline constexpr uint8_t kDataTypeSizes[kDataTypeCount] = {
    0, 4,  8, 4, 1, 2, 1, 0, 8, 8, 1, 1, 1, 4, 2, 2, 2,  // up to DT_QUINT16
    2, 16, 2, 0, 0, 4, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
// Returns the bytes of one element in memory. 0 for strings, resource handles and variants, whose
// elements are C++ objects, and for invalid types.
inline size_t DataTypeSize(DataType t) {
  const DataType base = BaseType(t);
  return base > 0 && base < kDataTypeCount ? kDataTypeSizes[base] : 0;
}

struct ResourceHandle;
class Variant;

template <DataType kType>
struct TypeTag {
  static constexpr DataType value = kType;
};

template <typename T>
struct DataTypeOf;
template <DataType D>
struct CppTypeOf;

#define SLUICE_MATCH_TYPE(cpp, dt)        \
  template <>                             \
  struct DataTypeOf<cpp> {                \
    static constexpr DataType value = dt; \
  };                                      \
  template <>                             \
  struct CppTypeOf<dt> {                  \
    using type = cpp;                     \
  }
SLUICE_MATCH_TYPE(float, DT_FLOAT);
SLUICE_MATCH_TYPE(double, DT_DOUBLE);
SLUICE_MATCH_TYPE(int8_t, DT_INT8);
SLUICE_MATCH_TYPE(int16_t, DT_INT16);
SLUICE_MATCH_TYPE(int32_t, DT_INT32);
SLUICE_MATCH_TYPE(int64_t, DT_INT64);
SLUICE_MATCH_TYPE(uint8_t, DT_UINT8);
SLUICE_MATCH_TYPE(uint16_t, DT_UINT16);
SLUICE_MATCH_TYPE(uint32_t, DT_UINT32);
SLUICE_MATCH_TYPE(uint64_t, DT_UINT64);
SLUICE_MATCH_TYPE(bool, DT_BOOL);
SLUICE_MATCH_TYPE(half, DT_HALF);
SLUICE_MATCH_TYPE(bfloat16, DT_BFLOAT16);
SLUICE_MATCH_TYPE(std::complex<float>, DT_COMPLEX64);
SLUICE_MATCH_TYPE(std::complex<double>, DT_COMPLEX128);
SLUICE_MATCH_TYPE(std::string, DT_STRING);
SLUICE_MATCH_TYPE(ResourceHandle, DT_RESOURCE);
SLUICE_MATCH_TYPE(Variant, DT_VARIANT);
#undef SLUICE_MATCH_TYPE

template <typename T>
inline constexpr DataType kDataTypeOf = DataTypeOf<T>::value;

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// A set of types, such as those that an attribute allows or a kernel supports. Reference types
// cannot be members.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(DataType t) : bits_(uint64_t{1} << t) {}  // NOLINT: a type is a set of one
  constexpr TypeSet(std::initializer_list<DataType> types) {
    for (DataType t : types) bits_ |= uint64_t{1} << t;
  }
  constexpr bool contains(DataType t) const { return t < 64 && ((bits_ >> t) & 1); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr TypeSet operator|(TypeSet o) const { return FromBits(bits_ | o.bits_); }
  constexpr TypeSet operator&(TypeSet o) const { return FromBits(bits_ & o.bits_); }
  constexpr TypeSet operator-(TypeSet o) const { return FromBits(bits_ & ~o.bits_); }
  constexpr bool operator==(const TypeSet&) const = default;
  std::vector<DataType> list() const;  // ascending enum numbers
  std::string ToString() const;        // "float, double, int32"

 private:
  static constexpr TypeSet FromBits(uint64_t b) {
    TypeSet s;
    s.bits_ = b;
    return s;
  }
  uint64_t bits_ = 0;
};

// The sets that many ops allow.
constexpr TypeSet FloatTypes() { return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE}; }
constexpr TypeSet ComplexTypes() { return {DT_COMPLEX64, DT_COMPLEX128}; }
constexpr TypeSet SignedIntTypes() { return {DT_INT8, DT_INT16, DT_INT32, DT_INT64}; }
constexpr TypeSet UnsignedIntTypes() { return {DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64}; }
constexpr TypeSet IntTypes() { return SignedIntTypes() | UnsignedIntTypes(); }
constexpr TypeSet RealTypes() { return FloatTypes() | IntTypes(); }  // TensorFlow's realnumbertype
constexpr TypeSet QuantizedTypes() {
  return {DT_QINT8, DT_QUINT8, DT_QINT32, DT_QINT16, DT_QUINT16};
}
// TensorFlow's `numbertype`, which arithmetic ops allow.
constexpr TypeSet NumberTypes() { return RealTypes() | ComplexTypes() | QuantizedTypes(); }
constexpr TypeSet IndexTypes() { return {DT_INT32, DT_INT64}; }

inline bool IsFloating(DataType t) { return FloatTypes().contains(BaseType(t)); }
inline bool IsComplex(DataType t) { return ComplexTypes().contains(BaseType(t)); }
inline bool IsInteger(DataType t) { return IntTypes().contains(BaseType(t)); }
// Whether memcpy can copy the elements and TensorProto.tensor_content can hold them. False for
// strings, resource handles, variants and invalid types.
inline bool IsPlainBytes(DataType t) { return DataTypeSize(BaseType(t)) != 0; }

// A list of C++ types. Kernels are registered for each type of a list.
template <typename... Ts>
struct TypeList {};
template <typename A, typename B>
struct JoinTypes;
template <typename... As, typename... Bs>
struct JoinTypes<TypeList<As...>, TypeList<Bs...>> {
  using type = TypeList<As..., Bs...>;
};
using FloatList = TypeList<half, bfloat16, float, double>;
using ComplexList = TypeList<complex64, complex128>;
using SignedIntList = TypeList<int8_t, int16_t, int32_t, int64_t>;
using UnsignedIntList = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;
using IndexList = TypeList<int32_t, int64_t>;
using IntList = JoinTypes<SignedIntList, UnsignedIntList>::type;
using RealList = JoinTypes<FloatList, IntList>::type;
using NumberList = JoinTypes<RealList, ComplexList>::type;
using AllList = JoinTypes<NumberList, TypeList<bool, std::string, ResourceHandle, Variant>>::type;

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_DTYPE_H_
