// Headers that tests include. They are compiled once for all files.
#include "bazel/precompiled/graph_headers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
