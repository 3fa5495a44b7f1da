// Headers that code which sees kernels includes. Compiled once for all files.
#include "bazel/precompiled/graph_headers.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
