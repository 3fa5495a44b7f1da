// Tests errors of a program that links only some families of ops: math with its kernels, the
// definitions of array, and the builder functions of image.
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/image/builders.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LibrariesTest, AnOpThatIsNotLinkedIsAnErrorThatNamesItsLibrary) {
  Graph g;
  const Output image = Placeholder(g, DT_FLOAT, {1, 4, 4, 3}, "image");
  const Output small = ResizeBilinear(image, Constant(g, {2, 2}, "size"), {.name = "small"});
  Session session(g);
  const absl::Status status =
      session.Run({{image, Tensor(DT_FLOAT, {1, 4, 4, 3})}}, {small}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("Op type not registered 'ResizeBilinear' in binary running on "),
                    HasSubstr(": it is in //ops/image, which is not linked")));
}

TEST(LibrariesTest, ANodeOfAnImportedGraphLikewise) {
  Graph g;
  ASSERT_TRUE(ImportGraphDef("node { name: 'd' op: 'DecodeJpeg' }", g).ok());
  Session session(g);
  const absl::Status status = session.Run({}, {}, {"d"}).status();
  EXPECT_THAT(status.message(), HasSubstr("it is in //ops/image, which is not linked"));
  EXPECT_THAT(status.message(), HasSubstr("{{node d}}"));
}

TEST(LibrariesTest, AKernelThatIsNotLinkedIsAnErrorThatNamesItsLibrary) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {2, 3}, "x");
  const Output turned = Transpose(x, Constant(g, {1, 0}, "perm"), {.name = "turned"});
  Session session(g);
  const absl::Status status = session.Run({{x, Tensor(DT_FLOAT, {2, 3})}}, {turned}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("No OpKernel was registered to support Op 'Transpose' used by {{node "
                              "turned}}"),
                    HasSubstr("<no registered kernels>: they are in //ops/array:array_kernels, "
                              "which is not linked")));
}

TEST(LibrariesTest, KernelsThatDoNotFitAreListedInstead) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  const Output y = Abs(x, {.name = "y"});
  y.node->SetAttr("_kernel", std::string("odd"));
  Session session(g);
  const absl::Status status = session.Run({{x, Tensor(DT_FLOAT, {2})}}, {y}).status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("device='CPU'; T in ["), Not(HasSubstr("linked"))));
}

TEST(LibrariesTest, WhatNoLibraryHasIsSaidToBeUnknown) {
  Graph g;
  ASSERT_TRUE(
      ImportGraphDef("node { name: 'a' op: 'Nonsense' } node { name: 'b' op: 'Resize' }", g).ok());
  Session session(g);
  const absl::Status status = session.Run({}, {}, {"a"}).status();
  EXPECT_THAT(status.message(), HasSubstr("Make sure the library that defines it is linked"));
  // The unknown name begins like the names of ops in several libraries.
  const absl::Status beginning = session.Run({}, {}, {"b"}).status();
  EXPECT_THAT(beginning.message(), Not(HasSubstr("//ops/image")));
}

}  // namespace
}  // namespace sluice
