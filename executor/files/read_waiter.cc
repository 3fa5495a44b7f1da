#include "executor/files/read_waiter.h"

namespace sluice {

thread_local constinit ReadWaiter* ReadWaiter::current_ = nullptr;

}  // namespace sluice
