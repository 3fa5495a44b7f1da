// Hand-written functions over the generated builder functions.
#ifndef SLUICE_OPS_BUILDERS_SUGAR_H_
#define SLUICE_OPS_BUILDERS_SUGAR_H_

#include "graph/ir/graph.h"

#endif  // SLUICE_OPS_BUILDERS_SUGAR_H_
