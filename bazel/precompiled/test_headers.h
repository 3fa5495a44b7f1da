// The same for tests.
#include "bazel/precompiled/standard_headers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
