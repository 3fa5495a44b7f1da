#include "training/session/basic_hooks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/status.h"
#include "graph/tensor/float16.h"
#include "training/loop/log.h"
#include "training/session/global_step_read.h"

namespace sluice {
namespace {

constexpr Clock::Duration kLookAtGlobalStep = std::chrono::milliseconds(500);
constexpr int64_t kStepsBetweenLines = 1000;

template <typename T>
bool AnyNan(const Tensor& tensor) {
  for (const T& value : tensor.flat<T>()) {
    if (std::isnan(static_cast<float>(value))) return true;
  }
  return false;
}

absl::StatusOr<bool> HasNan(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DT_FLOAT:
      return AnyNan<float>(tensor);
    case DT_DOUBLE:
      return AnyNan<double>(tensor);
    case DT_HALF:
      return AnyNan<half>(tensor);
    case DT_BFLOAT16:
      return AnyNan<bfloat16>(tensor);
    default:
      return InvalidArgument("NanTensorHook: the loss must be of a floating type, got ",
                             DataTypeName(tensor.dtype()));
  }
}

}  // namespace

absl::Status StopAtStepHook::Begin(Graph& graph) {
  SLUICE_INVALID_IF(!options_.num_steps && !options_.last_step,
                    "One of num_steps or last_step must be specified.");
  SLUICE_INVALID_IF(options_.num_steps && options_.last_step,
                    "Only one of num_steps or last_step can be specified.");
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "StopAtStepHook"));
  return absl::OkStatus();
}

absl::Status StopAtStepHook::AfterCreateSession(Session& session, Coordinator&) {
  if (options_.last_step) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(session, global_step_));
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  options_.last_step = *options_.num_steps > kNever - std::max<int64_t>(step, 0)
                           ? kNever
                           : step + *options_.num_steps;
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> StopAtStepHook::BeforeRun(SessionRunContext&) {
  return SessionRunArgs{.fetches = {global_step_}};
}

absl::Status StopAtStepHook::AfterRun(SessionRunContext& context, const SessionRunValues& values) {
  // Reads the step again when it may be the last one, because the fetched step may be from before
  // or after the update.
  if (StepOf(values.results[0]) + 1 < *options_.last_step) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(context.session(), global_step_));
  if (step >= *options_.last_step) context.RequestStop();
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> NanTensorHook::BeforeRun(SessionRunContext&) {
  return SessionRunArgs{.fetches = {loss_}};
}

absl::Status NanTensorHook::AfterRun(SessionRunContext& context, const SessionRunValues& values) {
  SLUICE_ASSIGN_OR_RETURN(const bool nan, HasNan(values.results[0]));
  if (!nan) return absl::OkStatus();
  if (fail_on_nan_loss_) {
    LogError("Model diverged with loss = NaN.");
    return absl::InternalError("NaN loss during training.");
  }
  LogWarning("Model diverged with loss = NaN.");
  context.RequestStop();
  return absl::OkStatus();
}

absl::Status FinalOpsHook::End(Session& session) {
  if (request_.fetches.empty() && request_.targets.empty()) return absl::OkStatus();
  absl::StatusOr<Tensors> out = session.Run(request_.feeds, request_.fetches, request_.targets);
  if (out.status().code() == absl::StatusCode::kOutOfRange) {
    LogWarning(
        "FinalOpsHook: its tensors depend on the input, which is at its end; they should only read "
        "what steps before have left in variables.");
  }
  SLUICE_RETURN_IF_ERROR(out.status());
  values_ = *std::move(out);
  return absl::OkStatus();
}

absl::Status GlobalStepWaiterHook::Begin(Graph& graph) {
  started_ = false;
  SLUICE_ASSIGN_OR_RETURN(global_step_, GlobalStepRead(graph, "_GlobalStepWaiterHook"));
  return absl::OkStatus();
}

absl::Status GlobalStepWaiterHook::AfterCreateSession(Session&, Coordinator& coordinator) {
  wake_ = std::make_shared<Wake>();
  coordinator.OnStop([wake = wake_] { wake->Set(); });
  return absl::OkStatus();
}

absl::StatusOr<SessionRunArgs> GlobalStepWaiterHook::BeforeRun(SessionRunContext& context) {
  if (started_ || wait_until_step_ <= 0) return SessionRunArgs();
  LogInfo("Waiting for global step ", wait_until_step_, " before starting training.");
  int64_t last_logged = 0;
  while (true) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t step, GlobalStepValue(context.session(), global_step_));
    if (step >= wait_until_step_) break;
    if (step - last_logged > kStepsBetweenLines) {
      LogInfo("Waiting for global step ", wait_until_step_,
              " before starting training. Current step is ", step, ".");
      last_logged = step;
    }
    if (clock_->Wait(wake_, kLookAtGlobalStep)) {
      return absl::CancelledError(
          StrCat("GlobalStepWaiterHook: a stop was requested at global step ", step, " of ",
                 wait_until_step_));
    }
  }
  started_ = true;
  return SessionRunArgs();
}

absl::StatusOr<SessionRunArgs> FeedFnHook::BeforeRun(SessionRunContext&) {
  SessionRunArgs args;
  SLUICE_ASSIGN_OR_RETURN(args.feeds, feed_fn_());
  return args;
}

std::shared_ptr<SessionRunHook> StopAtStep(int64_t last_step) {
  return std::make_shared<StopAtStepHook>(StopAtStepOptions{.last_step = last_step});
}

std::shared_ptr<SessionRunHook> StopAfterSteps(int64_t num_steps) {
  return std::make_shared<StopAtStepHook>(StopAtStepOptions{.num_steps = num_steps});
}

std::shared_ptr<SessionRunHook> StopOnNan(Output loss) {
  return std::make_shared<NanTensorHook>(loss);
}

}  // namespace sluice
