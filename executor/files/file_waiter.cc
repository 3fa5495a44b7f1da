#include "executor/files/file_waiter.h"

namespace sluice {

thread_local constinit FileWaiter* FileWaiter::current_ = nullptr;

}  // namespace sluice
