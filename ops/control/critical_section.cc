// Critical sections: parts of graphs that no two steps run at the same time.

#include "ops/op.h"

namespace sluice {
namespace {

OP(ConsumeMutexLock,
   "Ends the lock that MutexLock gave. Run it after what the lock protects; nothing else may take"
   " the lock as input.")
    .Input("mutex_lock", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(MutexLock,
   "Waits until nobody holds the mutex, and holds it. The lock ends with ConsumeMutexLock, or with"
   " the step.")
    .Input("mutex", DT_RESOURCE)
    .Output("mutex_lock", DT_VARIANT)
    .Stateful()
    .Shape(ScalarOutput());

OP(MutexV2,
   "A mutex. Those of the same container and `shared_name` are the same one, also in other steps"
   " and sessions of the device.")
    .Output("resource", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
