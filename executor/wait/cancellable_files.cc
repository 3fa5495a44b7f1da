#include "executor/wait/cancellable_files.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <string>

namespace sluice {
namespace {

// Returns the milliseconds until `time` for poll(), for which -1 means no limit.
int MillisecondsUntil(CancellationManager::Time time) {
  if (time == CancellationManager::Time::max()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX));
}

std::string NameOf(FileAccess access) {
  return access == FileAccess::kRead ? "the read of a file" : "the write of a file";
}

absl::Status CancelledError(FileAccess access) {
  return absl::CancelledError(NameOf(access) + " was cancelled");
}

// Waits for the descriptor or `wake`, until the deadline or that of the cancellation.
absl::Status AwaitEither(pollfd descriptor, int wake, FileAccess access,
                         const CancellationManager& cancellation,
                         CancellationManager::Time deadline) {
  pollfd waiting[] = {descriptor, {wake, POLLIN, 0}};
  while (true) {
    const int count =
        poll(waiting, 2, MillisecondsUntil(std::min(deadline, cancellation.deadline())));
    if (count < 0 && errno == EINTR) continue;
    if (cancellation.IsCancelled()) return CancelledError(access);
    if (count > 0) return absl::OkStatus();
    if (count < 0) return absl::ErrnoToStatus(errno, "poll");
    if (!cancellation.IsWanted() || deadline <= std::chrono::steady_clock::now()) {
      return absl::DeadlineExceededError(NameOf(access) + " timed out");
    }
  }
}

}  // namespace

absl::Status CancellableFiles::Await(int descriptor, FileAccess access) {
  pollfd ready = {descriptor, PollEventOf(access), 0};
  if (poll(&ready, 1, 0) > 0) return absl::OkStatus();
  const int wake = eventfd(0, EFD_CLOEXEC);
  if (wake < 0) return absl::ErrnoToStatus(errno, "eventfd");
  const CancellationManager::Token token = cancellation_.NewToken();
  const bool is_registered = cancellation_.Register(token, [wake] {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake, &one, sizeof(one));
  });
  const absl::Status status = is_registered
                                  ? AwaitEither(ready, wake, access, cancellation_, deadline_)
                                  : CancelledError(access);
  if (is_registered) cancellation_.Deregister(token);
  close(wake);
  return status;
}

}  // namespace sluice
