// What a file of op definitions includes: the declaration, shapes, gradients and the builders that
// gradients are written with: those of the family itself, of arrays and of arithmetic.
#ifndef SLUICE_OPS_OP_H_
#define SLUICE_OPS_OP_H_

#include "graph/gradient/backprop.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include SLUICE_FAMILY_BUILDERS
#include "ops/array/builders.h"
#include "ops/builders/sugar.h"
#include "ops/math/builders.h"
#endif

#endif  // SLUICE_OPS_OP_H_
