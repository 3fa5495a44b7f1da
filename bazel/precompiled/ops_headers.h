// Headers that declarations of ops with gradients include. They are compiled once for all files.
#include "bazel/precompiled/graph_headers.h"
#include "ops/op.h"
