#include "ops/loops/arithmetic.h"

#include <algorithm>

#include "executor/cpu/target_clones.h"
#include "ops/loops/elements.h"
#include "ops/loops/wrapping.h"

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
  } else if constexpr (op == ArithmeticOp::kAdd) {
    to = WrappingAdd(to, from);
  } else if constexpr (op == ArithmeticOp::kSub) {
    to = WrappingSubtract(to, from);
  } else if constexpr (op == ArithmeticOp::kMul) {
    to = WrappingMultiply(to, from);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    // Negates instead of dividing by -1: the lowest number wraps around, while the processor would
    // trap.
    to = from == T(-1) ? WrappingNegate(to) : static_cast<T>(to / from);
  } else {
    to = static_cast<T>(to / from);
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

template <ArithmeticOp op, typename Types>
ArithmeticRow FindAmong(DataType dtype, bool with_scalar, Types types) {
  ArithmeticRow found = nullptr;
  WithType(dtype, types, [&]<typename T>(ElementTag<T>) {
    found = with_scalar ? &RowWithScalar<op, T> : &Row<op, T>;
  });
  return found;
}

ArithmeticRow Find(ArithmeticOp op, DataType dtype, bool with_scalar) {
  using Adding = JoinTypes<NumberList, TypeList<bool>>::type;
  switch (op) {
    case ArithmeticOp::kAssign:
      return FindAmong<ArithmeticOp::kAssign>(StoredType(dtype), with_scalar, AllList());
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

}  // namespace

ArithmeticRow FindArithmetic(ArithmeticOp op, DataType dtype) { return Find(op, dtype, false); }

ArithmeticRow FindArithmeticWithScalar(ArithmeticOp op, DataType dtype) {
  return Find(op, dtype, true);
}

bool HasIntegerZero(DataType dtype, const void* from, int64_t n) {
  bool has_zero = false;
  WithType(dtype, IntList(), [&]<typename T>(ElementTag<T>) {
    const T* values = static_cast<const T*>(from);
    has_zero = std::find(values, values + n, T(0)) != values + n;
  });
  return has_zero;
}

}  // namespace sluice
