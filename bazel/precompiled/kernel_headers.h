// The same for code that sees kernels.
#include "bazel/precompiled/graph_headers.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
