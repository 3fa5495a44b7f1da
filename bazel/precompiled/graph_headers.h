// Headers of the graph, which nearly all code above graph/ir includes. Compiled once for all files.
#include "bazel/precompiled/standard_headers.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
