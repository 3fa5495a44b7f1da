// Hand-written builder functions: constants, operators, reductions over given axes, given shapes,
// subscripts, random values, groups. The generated builder functions are in ops/builders/ops.h.
//
//   Output y = 2.0f * x + Constant(g, {1.0f, 2.0f});
//   Output loss = ReduceMean(Square(y - target), {0});
//
// They add the nodes of TensorFlow's Python functions under the same names, so the graph equals the
// graph that Python builds.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Errors: stay in the graph (Graph::status) with the caller's line. The result is then an invalid
// handle.
#ifndef SLUICE_OPS_SUGAR_H_
#define SLUICE_OPS_SUGAR_H_

#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "ops/array/shaping.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/indexing/subscript.h"
#include "ops/random/initializer.h"
#include "ops/random/random_values.h"
#include "ops/reduce/reduce_axes.h"

#endif  // SLUICE_OPS_SUGAR_H_
