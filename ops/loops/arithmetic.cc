#include "ops/loops/arithmetic.h"

#include <algorithm>
#include <complex>
#include <string>

#include "executor/cpu/target_clones.h"
#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {
namespace {

template <ArithmeticOp op, typename T>
SLUICE_INLINE_IN_CLONES void Apply(T& to, const T& from) {
  if constexpr (op == ArithmeticOp::kAssign) {
    to = from;
  } else if constexpr (std::is_same_v<T, bool>) {
    if constexpr (op == ArithmeticOp::kAdd) to = to || from;
    if constexpr (op == ArithmeticOp::kSub) to = to != from;
  } else if constexpr (op == ArithmeticOp::kMin) {
    to = from < to ? from : to;
  } else if constexpr (op == ArithmeticOp::kMax) {
    to = to < from ? from : to;
  } else if constexpr (kIsFloat16<T>) {
    if constexpr (op == ArithmeticOp::kAdd) to = to + from;
    if constexpr (op == ArithmeticOp::kSub) to = to - from;
    if constexpr (op == ArithmeticOp::kMul) to = to * from;
    if constexpr (op == ArithmeticOp::kDiv) to = to / from;
  } else if constexpr (std::is_integral_v<T> && op != ArithmeticOp::kDiv) {
    // Wraps around, as unsigned arithmetic does; narrow unsigned numbers would be multiplied as
    // int.
    using U = std::make_unsigned_t<T>;
    const auto a = static_cast<uint64_t>(static_cast<U>(to));
    const auto b = static_cast<uint64_t>(static_cast<U>(from));
    if constexpr (op == ArithmeticOp::kAdd) to = static_cast<T>(static_cast<U>(a + b));
    if constexpr (op == ArithmeticOp::kSub) to = static_cast<T>(static_cast<U>(a - b));
    if constexpr (op == ArithmeticOp::kMul) to = static_cast<T>(static_cast<U>(a * b));
  } else {
    if constexpr (op == ArithmeticOp::kAdd) to = static_cast<T>(to + from);
    if constexpr (op == ArithmeticOp::kSub) to = static_cast<T>(to - from);
    if constexpr (op == ArithmeticOp::kMul) to = static_cast<T>(to * from);
    if constexpr (op == ArithmeticOp::kDiv && std::is_integral_v<T> && std::is_signed_v<T>) {
      // The least number by -1 does not fit: it wraps, where the processor would trap.
      to = from == T(-1) ? static_cast<T>(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(to))
                         : static_cast<T>(to / from);
    } else if constexpr (op == ArithmeticOp::kDiv) {
      to = static_cast<T>(to / from);
    }
  }
}

template <ArithmeticOp op, typename T>
SLUICE_TARGET_CLONES void Row(void* to, const void* from, int64_t n) {
  T* a = static_cast<T*>(to);
  const T* b = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) Apply<op>(a[i], b[i]);
}

template <ArithmeticOp op, typename T>
SLUICE_TARGET_CLONES void RowWithScalar(void* to, const void* from, int64_t n) {
  T* a = static_cast<T*>(to);
  const T b = *static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) Apply<op>(a[i], b);
}

template <ArithmeticOp op, typename T>
constexpr bool Has() {
  if (op == ArithmeticOp::kAssign) return true;
  if (op == ArithmeticOp::kMin || op == ArithmeticOp::kMax) {
    return std::is_arithmetic_v<T> || kIsFloat16<T>;
  }
  return true;
}

template <ArithmeticOp op, typename... Ts>
ArithmeticRow FindAmong(DataType dtype, bool with_scalar, TypeList<Ts...>) {
  ArithmeticRow found = nullptr;
  const auto consider = [&]<typename T>(TypeTag<kDataTypeOf<T>>, T*) {
    if constexpr (Has<op, T>()) {
      if (dtype == kDataTypeOf<T>) found = with_scalar ? &RowWithScalar<op, T> : &Row<op, T>;
    }
  };
  (consider(TypeTag<kDataTypeOf<Ts>>(), static_cast<Ts*>(nullptr)), ...);
  return found;
}

// Elements of the quantised types move as the integers that they are made of.
DataType Stored(DataType dtype) {
  switch (dtype) {
    case DT_QINT8:
      return DT_INT8;
    case DT_QUINT8:
      return DT_UINT8;
    case DT_QINT16:
      return DT_INT16;
    case DT_QUINT16:
      return DT_UINT16;
    case DT_QINT32:
      return DT_INT32;
    default:
      return dtype;
  }
}

ArithmeticRow Find(ArithmeticOp op, DataType dtype, bool with_scalar) {
  using Adding = JoinTypes<NumberList, TypeList<bool>>::type;
  switch (op) {
    case ArithmeticOp::kAssign:
      return FindAmong<ArithmeticOp::kAssign>(Stored(dtype), with_scalar, AllList());
    case ArithmeticOp::kAdd:
      return FindAmong<ArithmeticOp::kAdd>(dtype, with_scalar, Adding());
    case ArithmeticOp::kSub:
      return FindAmong<ArithmeticOp::kSub>(dtype, with_scalar, Adding());
    case ArithmeticOp::kMul:
      return FindAmong<ArithmeticOp::kMul>(dtype, with_scalar, NumberList());
    case ArithmeticOp::kDiv:
      return FindAmong<ArithmeticOp::kDiv>(dtype, with_scalar, NumberList());
    case ArithmeticOp::kMin:
      return FindAmong<ArithmeticOp::kMin>(dtype, with_scalar, RealList());
    case ArithmeticOp::kMax:
      return FindAmong<ArithmeticOp::kMax>(dtype, with_scalar, RealList());
  }
  return nullptr;
}

template <typename T>
bool HasZero(const void* from, int64_t n) {
  const T* values = static_cast<const T*>(from);
  return std::find(values, values + n, T(0)) != values + n;
}

template <typename... Ts>
bool HasZeroAmong(DataType dtype, const void* from, int64_t n, TypeList<Ts...>) {
  return ((dtype == kDataTypeOf<Ts> && HasZero<Ts>(from, n)) || ...);
}

}  // namespace

ArithmeticRow FindArithmetic(ArithmeticOp op, DataType dtype) { return Find(op, dtype, false); }

ArithmeticRow FindArithmeticWithScalar(ArithmeticOp op, DataType dtype) {
  return Find(op, dtype, true);
}

bool HasIntegerZero(DataType dtype, const void* from, int64_t n) {
  return HasZeroAmong(dtype, from, n, IntList());
}

}  // namespace sluice
