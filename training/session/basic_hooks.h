// Small hooks for training loops. They end the loop at a step or at a NaN loss, fetch tensors after
// the last step, delay the first step, or feed tensors.
//
//   MonitoredTrainingSession session(g, {.hooks = {StopAtStep(10'000), StopOnNan(loss)}});
//
// Thread safety: as SessionRunHook: only the loop's thread calls them. Results may be read after
// the loop.
// Ownership: the loop shares ownership of its hooks. A hook serves one loop at a time.
// Errors: an error of a hook ends the loop.
// Reference: the classes with the same names in tf.estimator.
#ifndef SLUICE_TRAINING_SESSION_BASIC_HOOKS_H_
#define SLUICE_TRAINING_SESSION_BASIC_HOOKS_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "training/loop/clock.h"
#include "training/session/session_run_hook.h"

namespace sluice {

// Says when a StopAtStepHook ends the loop. Exactly one of the two fields is set.
struct StopAtStepOptions {
  // The loop ends when the global step has grown by this number since the first session was
  // created.
  std::optional<int64_t> num_steps;
  // The value of the global step at which the loop ends.
  std::optional<int64_t> last_step;
};

// Ends the loop when the global step reaches a value, whichever replica increments it. In a
// cluster, the global step may exceed this value by a few steps at the end. Errors of Begin:
// INVALID_ARGUMENT "One of num_steps or last_step must be specified." and "Only one of num_steps or
// last_step can be specified."; FAILED_PRECONDITION if the graph has no global step.
class StopAtStepHook : public SessionRunHook {
 public:
  explicit StopAtStepHook(StopAtStepOptions options) : options_(options) {}
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  StopAtStepOptions options_;
  Output global_step_;
};

// Ends the loop if the loss is NaN: with INTERNAL "NaN loss during training.", or without an error
// if `fail_on_nan_loss` is false. Fetches the loss in every step. INVALID_ARGUMENT if the loss is
// not of a floating-point type.
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(Output loss, bool fail_on_nan_loss = true)
      : loss_(loss), fail_on_nan_loss_(fail_on_nan_loss) {}
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  Output loss_;
  bool fail_on_nan_loss_;
};

// Fetches tensors after the last step, if the loop ends without an error. They must not depend on
// the input, which may be at its end (OUT_OF_RANGE).
//
//   auto last = std::make_shared<FinalOpsHook>(std::vector<Output>{accuracy.value});
//   … after the loop: last->final_ops_values()[0].scalar<float>()
class FinalOpsHook : public SessionRunHook {
 public:
  // The arguments are those of one Session::Run.
  explicit FinalOpsHook(std::vector<Output> final_ops, std::vector<Feed> feeds = {},
                        std::vector<Operation> targets = {})
      : request_{std::move(final_ops), std::move(targets), std::move(feeds), {}} {}
  absl::Status End(Session& session) override;
  // Empty before End.
  const Tensors& final_ops_values() const { return values_; }

 private:
  SessionRunArgs request_;
  Tensors values_;
};

// Delays the first step until the global step, which other replicas increment, reaches a value.
// Checks every half second. When the coordinator stops, the wait ends with CANCELLED.
class GlobalStepWaiterHook : public SessionRunHook {
 public:
  // If `wait_until_step` is 0 or less, the hook does not wait. The clock must outlive the hook.
  explicit GlobalStepWaiterHook(int64_t wait_until_step, Clock* clock = &Clock::Real())
      : wait_until_step_(wait_until_step), clock_(clock), wake_(std::make_shared<Wake>()) {}
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;

 private:
  const int64_t wait_until_step_;
  Clock* const clock_;
  std::shared_ptr<Wake> wake_;  // set when the coordinator stops
  Output global_step_;
  bool started_ = false;
};

// Feeds the tensors that a function returns for each step. An error of the function ends the loop;
// OUT_OF_RANGE ends it normally.
//
//   hooks.push_back(std::make_shared<FeedFnHook>(
//       [&]() -> absl::StatusOr<std::vector<Feed>> { return std::vector<Feed>{{x, Next()}}; }));
class FeedFnHook : public SessionRunHook {
 public:
  using FeedFn = std::function<absl::StatusOr<std::vector<Feed>>()>;
  explicit FeedFnHook(FeedFn feed_fn) : feed_fn_(std::move(feed_fn)) {}
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;

 private:
  FeedFn feed_fn_;
};

// Create a StopAtStepHook that ends the loop at the global step `last_step`, one that ends it after
// `num_steps` further steps, and a NanTensorHook. They are short forms for lists of hooks:
// `{StopAtStep(10'000), StopOnNan(loss)}`.
std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step);
std::shared_ptr<SessionRunHook> StopAfterSteps(int64_t num_steps);
std::shared_ptr<SessionRunHook> StopOnNan(Output loss);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_BASIC_HOOKS_H_
