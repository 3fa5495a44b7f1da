// Hand-written functions over the ops' generated builder functions (ops/builders/ops.h): constants,
// operators, reductions over axes given as numbers, shapes given as numbers, groups.
//
// They make the same nodes under the same names as TensorFlow's Python functions, so that a graph
// built here is the graph that Python would have built. Errors stay in the graph (Graph::status),
// with the caller's line; the result is then an invalid handle.
#ifndef SLUICE_OPS_BUILDERS_SUGAR_H_
#define SLUICE_OPS_BUILDERS_SUGAR_H_

#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "ops/builders/constant.h"
#include "ops/builders/indexing.h"
#include "ops/builders/operand.h"
#include "ops/builders/random.h"
#include "ops/builders/reduce.h"
#include "ops/builders/shaping.h"

#endif  // SLUICE_OPS_BUILDERS_SUGAR_H_
