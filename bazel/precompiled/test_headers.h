// The same for tests.
#include "bazel/precompiled/graph_headers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
