// Headers that code with kernels includes. They are compiled once for all files.
#include "bazel/precompiled/graph_headers.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
