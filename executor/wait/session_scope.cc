#include "executor/wait/session_scope.h"

namespace sluice {

thread_local constinit int64_t SessionScope::current_ = 0;

}  // namespace sluice
