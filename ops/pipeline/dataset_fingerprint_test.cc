// Fingerprints must not depend on the names of functions, also if functions call themselves.
#include "ops/pipeline/dataset_fingerprint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/format/proto/function.pb.h"
#include "ops/data/dataset.h"

namespace sluice {
namespace {

struct Function {
  std::string name;
  // The functions that its nodes call in attributes "f0", "f1", …
  std::vector<std::string> callees;
};

// The fingerprint of a dataset that maps the function `mapped`.
uint64_t FingerprintOf(const std::string& mapped, const std::vector<Function>& functions) {
  pb::FunctionDefLibrary proto;
  for (const Function& function : functions) {
    pb::FunctionDef* const made = proto.add_function();
    made->mutable_signature()->set_name(function.name);
    pb::NodeDef* const node = made->add_node_def();
    node->set_name("choose");
    node->set_op("Case");
    for (size_t i = 0; i < function.callees.size(); ++i) {
      (*node->mutable_attr())[StrCat("f", i)].mutable_func()->set_name(function.callees[i]);
    }
  }
  const absl::StatusOr<FunctionLibrary> library = FunctionLibrary::Parse(proto.SerializeAsString());
  EXPECT_TRUE(library.ok()) << library.status();
  const auto f = std::make_shared<const FunctionRef>(FunctionRef{mapped, {}});
  const auto origin =
      std::make_shared<const DatasetOrigin>(DatasetOrigin{"MapDataset", {{"f", f}}, {}});
  return DatasetFingerprint(TensorOf(DatasetOf({}, {}), 1, origin), *library);
}

TEST(DatasetFingerprintTest, TheNameOfARecursiveFunctionDoesNotCount) {
  const uint64_t itself = FingerprintOf("f", {{"f", {"f"}}});
  EXPECT_EQ(itself, FingerprintOf("other", {{"other", {"other"}}}));
  EXPECT_NE(itself, FingerprintOf("f", {{"f", {}}}));
}

TEST(DatasetFingerprintTest, TheNamesOfFunctionsThatCallOneAnotherDoNotCount) {
  // f calls g and h, which differ in which of the two functions above them they call.
  const auto of = [](const std::string& f, const std::string& g, const std::string& h, bool swap) {
    return FingerprintOf(f, {{f, {g, h, f}}, {g, {f, swap ? h : g}}, {h, {g, swap ? g : h}}});
  };
  const uint64_t first = of("f", "g", "h", false);
  EXPECT_EQ(first, of("f", "g", "h", false));
  EXPECT_EQ(first, of("z", "y", "x", false));
  EXPECT_NE(first, of("f", "g", "h", true));
}

}  // namespace
}  // namespace sluice
