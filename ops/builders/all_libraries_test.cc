// Compares the table of libraries, which is read from the sources, with the registries.
#include <string>
#include <string_view>

#include "executor/kernel/kernel.h"
#include "gtest/gtest.h"

namespace sluice {

// Defined in //ops/builders:libraries, which has no header because graph/ and executor/ call it
// through weak references.
std::string LibraryOfOp(std::string_view op);
std::string LibraryOfKernels(std::string_view op);

namespace {

TEST(LibrariesTest, EveryOpHasALibrary) {
  int ops = 0;
  for (const OpDef* op : OpRegistry::Global().All()) {
    if (op->name.starts_with('_')) continue;  // such ops may belong to executor/
    EXPECT_TRUE(LibraryOfOp(op->name).starts_with("//ops/"))
        << op->name << " is declared in another way";
    ++ops;
  }
  EXPECT_GT(ops, 1000);
}

// Every op that is not deprecated needs kernels, because an error about a missing kernel names
// their library.
TEST(LibrariesTest, EveryOpHasKernels) {
  for (const OpDef* op : OpRegistry::Global().All()) {
    if (op->deprecated_at != 0 || op->name.starts_with('_')) continue;
    EXPECT_FALSE(KernelRegistry::Global().For(op->name).empty()) << op->name;
  }
}

TEST(LibrariesTest, KernelsMayStandInAnotherFamilyThanTheirOp) {
  EXPECT_EQ(LibraryOfOp("RaggedFillEmptyRowsGrad"), "//ops/ragged");
  EXPECT_EQ(LibraryOfKernels("RaggedFillEmptyRowsGrad"), "//ops/sparse:sparse_kernels");
  // ops/lists has a kernel of AddN too
  EXPECT_EQ(LibraryOfKernels("AddN"), "//ops/math:math_kernels");
  EXPECT_EQ(LibraryOfOp("DecodeWebP"), "//ops/image:webp");  // a library for a part of the folder
  EXPECT_EQ(LibraryOfKernels("DecodeWebP"), "//ops/image:webp_kernels");
  EXPECT_EQ(LibraryOfOp("ScatterAdd"), "//ops/state");  // declared by a macro
}

TEST(LibrariesTest, UpdateRulesStandForTheOpsOfTheirForms) {
  EXPECT_EQ(LibraryOfOp("ResourceSparseApplyKerasMomentum"), "//ops/update");
  EXPECT_EQ(LibraryOfOp("ApplyKerasMomentum"), "");  // has_ref = false
  EXPECT_EQ(LibraryOfOp("SparseApplyAdam"), "");     // has_sparse = false
}

}  // namespace
}  // namespace sluice
