// If the file of a summary writer has an error, the events that cannot be written must not stay in
// memory.
#include "ops/summary/summary_writer.h"

#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

pb::Event LargeEvent() {
  pb::Event event;
  event.set_graph_def(std::string(1 << 20, 'x'));
  return event;
}

size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(SummaryWriterTest, AFullDiskIsReportedByEachWriteAndKeepsNoEvents) {
  auto file = EventFile::Open(std::string(std::getenv("TEST_TMPDIR")) + "/full");
  ASSERT_TRUE(file.ok()) << file.status();
  SummaryWriterResource writer(*std::move(file), 2, 1'000'000'000);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(writer.Write(LargeEvent()).ok());
  const size_t bytes = BytesInUse();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(writer.Write(LargeEvent()).ok());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_LT(BytesInUse(), bytes + (5 << 20));
  EXPECT_FALSE(writer.Flush().ok());
}

}  // namespace
}  // namespace sluice
