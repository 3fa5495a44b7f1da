#include "executor/files/file_waiter.h"

#include <poll.h>

namespace sluice {

thread_local constinit FileWaiter* FileWaiter::current_ = nullptr;

short PollEventOf(FileAccess access) { return access == FileAccess::kRead ? POLLIN : POLLOUT; }

}  // namespace sluice
