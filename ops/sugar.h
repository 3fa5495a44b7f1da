// Includes the hand-written functions that add nodes to a graph: constants, operators, subscripts,
// random values, groups, reductions over axes given as numbers, and so on. The functions that are
// generated from the declarations of ops are in ops/builders/ops.h.
//
//   Output y = 2.0f * x + Constant(g, {1.0f, 2.0f});
//   Output loss = ReduceMean(Square(y - target), {0});
//
// The functions add the nodes of TensorFlow's Python functions under the same names, so the graph
// equals the graph that Python builds.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Errors: stay in the graph (Graph::status), with the source line of the call. The result is then
// an invalid handle.
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
