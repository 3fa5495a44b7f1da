// Headers of the graph that nearly all code above graph/ir includes. They are compiled once for all
// files.
#include "bazel/precompiled/standard_headers.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
