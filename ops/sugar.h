// Hand-written builder functions: constants, operators, reductions over axes given as numbers,
// shapes given as numbers, groups. They use the ops' generated builder functions
// (ops/builders/ops.h).
//
// They add the same nodes under the same names as TensorFlow's Python functions, so a graph built
// here equals the graph that Python builds. Errors stay in the graph (Graph::status) with the
// caller's line; the result is then an invalid handle.
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
