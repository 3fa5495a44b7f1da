// What a file of op definitions includes: the declaration, shapes, gradients and the builders that
// gradients are written with.
#ifndef SLUICE_OPS_OP_H_
#define SLUICE_OPS_OP_H_

#include "graph/gradient/backprop.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"
#endif

#endif  // SLUICE_OPS_OP_H_
