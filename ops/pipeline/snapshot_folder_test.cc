// Tests runs of snapshots: if an element cannot be written, only this element fails.
#include "ops/pipeline/snapshot_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "executor/files/files.h"
#include "graph/tensor/tensor.h"

namespace sluice {
namespace {

// Once, a shard number above the limit was refused, and the process crashed at the end of the
// dataset.
TEST(SnapshotFolderTest, ARunIsCompleteAfterAShardThatWasRefused) {
  std::vector<Tensors> elements;
  for (int64_t i = 0; i < 1002; ++i) elements.push_back({Tensor::Scalar<int64_t>(i)});
  Reading reading;
  auto inner = DatasetOf({}, std::move(elements))->Iterate(reading);
  ASSERT_TRUE(inner.ok()) << inner.status();
  const std::string folder = JoinPath(std::getenv("TEST_TMPDIR"), "snapshot");
  const IteratorPointer writer = WriteRun(
      {.folder = folder,
       .shard_of = [](const Tensors& element, Reading&) { return element[0].scalar<int64_t>(); },
       .counts_elements = true},
      *std::move(inner), reading);
  int written = 0, refused = 0;
  while (true) {
    Tensors element;
    const absl::StatusOr<bool> any = writer->Next(&element);
    if (any.ok() && !*any) break;
    any.ok() ? ++written : ++refused;
    if (!any.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(any.status())) << any.status();
    }
  }
  EXPECT_EQ(written, 1000);
  EXPECT_EQ(refused, 2);
  const auto metadata = ReadSnapshotMetadata(folder);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  ASSERT_TRUE(metadata->has_value());
  EXPECT_TRUE((*metadata)->finalized());
  EXPECT_EQ((*metadata)->num_elements(), 1000);
}

}  // namespace
}  // namespace sluice
