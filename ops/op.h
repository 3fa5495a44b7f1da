// Every file that declares ops includes this header. It includes what declarations, shape functions
// and gradients need, and the builder functions that most gradients use. Builder functions add
// nodes to a graph and are generated: the build first compiles the declarations with the macro
// SLUICE_DEFINITIONS_ONLY, without gradients, and generates the builder functions from them. So
// include the headers of other builder functions, such as "ops/math/rounding_builders.h", under
// #ifndef SLUICE_DEFINITIONS_ONLY.
//
// A change of a header that is included here recompiles all files that declare ops.
#ifndef SLUICE_OPS_OP_H_
#define SLUICE_OPS_OP_H_

#include "graph/gradient/backprop.h"
#include "graph/infer/elementwise.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "ops/elementwise_mixins.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/array/concat_builders.h"
#include "ops/array/fill_builders.h"
#include "ops/array/identity_builders.h"
#include "ops/array/pad_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/shape_builders.h"
#include "ops/array/sources_builders.h"
#include "ops/array/tile_builders.h"
#include "ops/array/transpose_builders.h"
#include "ops/gradient_nodes.h"
#include "ops/indexing/gather_builders.h"
#include "ops/indexing/slice_builders.h"
#include "ops/indexing/unique_builders.h"
#include "ops/indexing/where_builders.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/compare_builders.h"
#include "ops/math/division_builders.h"
#include "ops/math/select_builders.h"
#include "ops/reduce/reduce_builders.h"
#include "ops/reduce/segment_builders.h"
#include "ops/shape_nodes.h"
#include "ops/sugar.h"
#endif

#endif  // SLUICE_OPS_OP_H_
