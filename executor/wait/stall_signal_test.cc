#include "executor/wait/stall_signal.h"

#include <unistd.h>

#include <string>

#include "executor/wait/stalls.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

// The first line written to stderr after `signal`.
std::string LineOnStderrAfter(int signal) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const int stderr_before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  kill(getpid(), signal);
  std::string line;
  for (char c = 0; c != '\n' && read(ends[0], &c, 1) == 1;) line += c;
  dup2(stderr_before, STDERR_FILENO);
  for (int fd : {ends[0], ends[1], stderr_before}) close(fd);
  return line;
}

TEST(StallSignal, WritesWhatWaitsEachTimeItComes) {
  ReportStallsOnSignal(SIGUSR1);
  EXPECT_EQ(LineOnStderrAfter(SIGUSR1), "no step waits\n");
  Stalls stalls;
  const Stalls::Entry entry =
      stalls.Open({7, "take", "QueueDequeueV2", "queue 'q'", [] { return "0 elements"; }});
  EXPECT_THAT(LineOnStderrAfter(SIGUSR1),
              ::testing::MatchesRegex("step 7: 'take' .QueueDequeueV2. has waited 0.. s for queue "
                                      "'q': 0 elements\n"));
  stalls.Close(entry);
}

}  // namespace
}  // namespace sluice
