// Headers of the graph, which nearly all code above graph/ir includes.
#include "bazel/precompiled/standard_headers.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
