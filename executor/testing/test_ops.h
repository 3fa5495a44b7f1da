// A few ops with kernels for tests of the executor, which is below the ops and must be testable
// without them. Control-flow ops, Const, Identity and Placeholder have TensorFlow's names. The
// arithmetic ops are for float and are named Test….
#ifndef SLUICE_EXECUTOR_TESTING_TEST_OPS_H_
#define SLUICE_EXECUTOR_TESTING_TEST_OPS_H_

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"

namespace sluice::testing {

Output Const(Graph& g, float value, const std::string& name = "");
Output ConstInt(Graph& g, int32_t value, const std::string& name = "");
Output ConstBool(Graph& g, bool value, const std::string& name = "");
Output Placeholder(Graph& g, DataType dtype, const PartialShape& shape = {},
                   const std::string& name = "", At at = At::current());
Output Add(Output a, Output b, const std::string& name = "", At at = At::current());
Output Sub(Output a, Output b, const std::string& name = "");
Output Less(Output a, Output b, const std::string& name = "");
Output Identity(Output a, const std::string& name = "");
Node* NoOp(Graph& g, const std::vector<Operation>& controls, const std::string& name = "");
Node* ControlTrigger(Graph& g, const std::vector<Operation>& controls);
// Like Identity, but appends its name to the trace when it runs (TakeTrace).
Output Logged(Output a, const std::string& name, const std::vector<Operation>& controls = {});
// Fails with INTERNAL "boom".
Output Fail(Output a, const std::string& name = "", At at = At::current());
// Like Identity, but first calls the hook of this name (SetHook).
Output Hooked(Output a, const std::string& name, At at = At::current());
// Asynchronous: completes when Events::Fire(name) is called, or the step is cancelled.
Output Wait(Output a, const std::string& name, At at = At::current());
// Asynchronous, but completes at once.
Output Instant(Output a, const std::string& name = "");
// A reference variable (a float scalar), an assignment to it, and an increment in place.
Output Variable(Graph& g, const std::string& name, At at = At::current());
Output Assign(Output ref, Output value, const std::string& name = "");
Output AssignAdd(Output ref, Output value, const std::string& name = "");
// Locks the variable (takes its claim) while it calls the hook of this name (SetHook). Returns the
// value of the variable.
Output Held(Output ref, const std::string& name);

struct SwitchOutputs {
  Output if_false, if_true;
};
SwitchOutputs Switch(Output data, Output predicate, const std::string& name = "");
struct MergeOutputs {
  Output output, index;
};
MergeOutputs Merge(const OutputList& inputs, const std::string& name = "",
                   bool allow_missing = false);
Output Enter(Output data, const std::string& frame, bool constant = false,
             int parallel_iterations = 10, const std::string& name = "");
Output Exit(Output data, const std::string& name = "");
Output NextIteration(Output data, const std::string& name = "");
Output LoopCond(Output data, const std::string& name = "");

// A while loop over float variables, built from the primitive ops.
using LoopFunction = std::function<OutputList(const OutputList&)>;
OutputList WhileLoop(const std::string& frame, const OutputList& first, const LoopFunction& cond,
                     const LoopFunction& body, int parallel_iterations = 10);

// Returns the names of the Logged nodes that have run since the last call, in order.
std::vector<std::string> TakeTrace();
int CountInTrace(const std::vector<std::string>& trace, const std::string& name);

void SetHook(const std::string& name, std::function<void()> hook);
void ClearHooks();

// Events for which Wait nodes wait.
class Events {
 public:
  static Events& Get();
  // Completes one waiting call of this name. If none waits, completes the next one.
  void Fire(const std::string& name);
  // Ends one waiting call of each name with an error. Takes all calls before it ends any, so that
  // the error of one cannot cancel another.
  void FailTogether(const std::map<std::string, absl::Status>& errors);
  void Reset();
  // The number of calls that wait for this name.
  int waiting(const std::string& name);
  // Blocks until `n` calls wait for this name.
  void AwaitWaiting(const std::string& name, int n);

  // Called by the kernel of Wait.
  void Add(const std::string& name, KernelContext& context, std::function<void(absl::Status)> done);

 private:
  struct Call {
    int64_t id;
    std::function<void(absl::Status)> done;
    class ::sluice::CancellationManager* cancellation;
    int64_t token;
  };
  void Cancel(const std::string& name, int64_t id);
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::vector<Call>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> fired_ ABSL_GUARDED_BY(mutex_);
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::testing

#endif  // SLUICE_EXECUTOR_TESTING_TEST_OPS_H_
