#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/vector_math.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

UNARY_KERNELS(Sin, FloatAndComplexList, CallsLibrary(1), std::sin(x));
UNARY_KERNELS(Cos, FloatAndComplexList, CallsLibrary(1), std::cos(x));
UNARY_KERNELS(Tan, FloatAndComplexList, CallsLibrary(1), std::tan(x));
UNARY_KERNELS(Asin, FloatAndComplexList, CallsLibrary(1), std::asin(x));
UNARY_KERNELS(Acos, FloatAndComplexList, CallsLibrary(1), std::acos(x));
UNARY_KERNELS(Atan, FloatAndComplexList, CallsLibrary(1), std::atan(x));
UNARY_KERNELS(Sinh, FloatAndComplexList, CallsLibrary(1), std::sinh(x));
UNARY_KERNELS(Cosh, FloatAndComplexList, CallsLibrary(1), std::cosh(x));
UNARY_KERNELS(Asinh, FloatAndComplexList, CallsLibrary(1), std::asinh(x));
UNARY_KERNELS(Acosh, FloatAndComplexList, CallsLibrary(1), std::acosh(x));
UNARY_KERNELS(Atanh, FloatAndComplexList, CallsLibrary(1), std::atanh(x));
BINARY_KERNELS(Atan2, FloatList, CallsLibrary(1.5), std::atan2(x, y));

}  // namespace
}  // namespace sluice
