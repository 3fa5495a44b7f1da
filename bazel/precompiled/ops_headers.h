// The same for declarations of ops with their gradients.
#include "bazel/precompiled/graph_headers.h"
#include "ops/op.h"
