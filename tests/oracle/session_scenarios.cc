// Runs scenarios of training sessions, and prints the calls and errors, one per line: "<scenario>
// <event>". session_scenarios_test.py runs the same in TensorFlow.
#include <cstdio>
#include <functional>
#include <limits>
#include <map>

#include "graph/status.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"
#include "training/loop/log.h"
#include "training/session/basic_hooks.h"
#include "training/session/logging_tensor_hook.h"
#include "training/session/monitored_session.h"
#include "training/session/session_manager.h"
#include "training/session/step_timer.h"

namespace sluice {
namespace {

std::string scenario;
void Say(const std::string& what) { std::printf("%s %s\n", scenario.c_str(), what.c_str()); }
void SayError(const absl::Status& status) {
  if (!status.ok()) Say(StrCat("error: ", status.message()));
}

// Prints each call. `act` may add an error or a request.
class Recorder : public SessionRunHook {
 public:
  using Act = std::function<absl::StatusOr<SessionRunArgs>(SessionRunContext* context)>;
  explicit Recorder(std::string name, std::map<std::string, Act> acts = {})
      : name_(std::move(name)), acts_(std::move(acts)) {}

  absl::Status Begin(Graph&) override { return Call("begin", nullptr).status(); }
  absl::Status AfterCreateSession(Session&, Coordinator& coordinator) override {
    coordinator_ = &coordinator;
    return Call("after_create_session", nullptr).status();
  }
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override {
    return Call("before_run", &context);
  }
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues&) override {
    return Call("after_run", &context).status();
  }
  absl::Status End(Session&) override { return Call("end", nullptr).status(); }
  Coordinator* coordinator() const { return coordinator_; }

 private:
  absl::StatusOr<SessionRunArgs> Call(const std::string& call, SessionRunContext* context) {
    Say(StrCat(name_, ".", call));
    const auto it = acts_.find(call);
    return it == acts_.end() ? SessionRunArgs() : it->second(context);
  }
  const std::string name_;
  std::map<std::string, Act> acts_;
  Coordinator* coordinator_ = nullptr;
};

std::shared_ptr<Recorder> Record(const std::string& name,
                                 std::map<std::string, Recorder::Act> acts = {}) {
  return std::make_shared<Recorder>(name, std::move(acts));
}

// Fails at the n-th call.
Recorder::Act FailAt(int n, absl::Status status) {
  auto calls = std::make_shared<int>(0);
  return [=](SessionRunContext*) -> absl::StatusOr<SessionRunArgs> {
    if (++*calls == n) return status;
    return SessionRunArgs();
  };
}

Recorder::Act StopAt(int n) {
  auto calls = std::make_shared<int>(0);
  return [=](SessionRunContext* context) -> absl::StatusOr<SessionRunArgs> {
    if (++*calls == n) context->RequestStop();
    return SessionRunArgs();
  };
}

struct Model {
  Model() {
    Variable step = GlobalStep(g);
    train = step.AssignAdd(int64_t{1});
    read = step.Read();
    x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
    y = x + 1.0f;
  }
  Recorder::Act Feed() {
    return [this](SessionRunContext*) -> absl::StatusOr<SessionRunArgs> {
      return SessionRunArgs{.feeds = {{x, Tensor::Scalar(1.0f)}}};
    };
  }
  // Trains until the loop ends, at most ten steps.
  void Loop(const SessionRunHooks& hooks, bool fetch_unfed = false) {
    MonitoredSession session(g, nullptr, hooks);
    for (int i = 0; i < 10 && !session.ShouldStop(); ++i) {
      Say("run");
      const auto out = fetch_unfed ? session.Run({}, {y}) : session.Run({}, {}, {train});
      if (!out.ok()) break;
    }
    if (session.session() != nullptr && session.status().ok()) {
      const auto out = session.session()->Run({}, {read});
      if (out.ok()) Say(StrCat("step ", (*out)[0].scalar<int64_t>()));
    }
    const absl::Status status = session.Close();
    if (!status.ok()) Say(fetch_unfed ? "error" : StrCat("error: ", status.message()));
  }

  Graph g;
  Operation train;
  Output read, x, y;
};

void Loops() {
  const auto play = [](const std::string& name, const std::function<void(Model&)>& body) {
    scenario = name;
    Model model;
    body(model);
  };
  play("normal", [](Model& m) { m.Loop({Record("a"), Record("b", {{"after_run", StopAt(2)}})}); });
  play("error_in_step", [](Model& m) { m.Loop({Record("a"), Record("b")}, true); });
  play("end_of_input", [](Model& m) {
    m.Loop({Record("a"), Record("b", {{"before_run", FailAt(2, absl::OutOfRangeError("end"))}})});
  });
  play("error_in_before_run", [](Model& m) {
    m.Loop({Record("a", {{"before_run", FailAt(1, absl::InternalError("bad"))}}), Record("b")});
  });
  play("lost_machine_before_run", [](Model& m) {
    m.Loop({Record("a", {{"before_run", FailAt(3, absl::UnavailableError("lost"))}}),
            Record("b", {{"after_run", StopAt(4)}})});
  });
  play("lost_machine_after_run", [](Model& m) {
    m.Loop({Record("a", {{"after_run", FailAt(2, absl::AbortedError("lost"))}}),
            Record("b", {{"after_run", StopAt(3)}})});
  });
  play("lost_machine_in_creation", [](Model& m) {
    m.Loop({Record("a", {{"after_create_session", FailAt(1, absl::AbortedError("lost"))}}),
            Record("b", {{"after_run", StopAt(1)}})});
  });
  play("error_in_end", [](Model& m) {
    m.Loop({Record("a", {{"end", FailAt(1, absl::InternalError("late"))}}),
            Record("b", {{"after_run", StopAt(1)}})});
  });
  play("stop_at_step", [](Model& m) { m.Loop({StopAtStep(3), Record("a")}); });
  play("stop_after_steps", [](Model& m) { m.Loop({StopAfterSteps(2), Record("a")}); });
  play("feeds_of_two_hooks", [](Model& m) {
    m.Loop({Record("a", {{"before_run", m.Feed()}}), Record("b", {{"before_run", m.Feed()}})});
  });
}

void SingleSteps() {
  {
    scenario = "run_after_stop";
    Model m;
    MonitoredSession session(m.g, nullptr, {StopAtStep(1)});
    SayError(session.Run({m.train}));
    SayError(session.Run({}, {}, {m.train}).status());
  }
  {
    scenario = "feeds_of_user_and_hook";
    Model m;
    MonitoredSession session(m.g, nullptr, {Record("a", {{"before_run", m.Feed()}})});
    SayError(session.Run({{m.x, Tensor::Scalar(1.0f)}}, {m.y}).status());
  }
  for (const bool fail : {true, false}) {
    scenario = fail ? "nan_fails" : "nan_stops";
    Model m;
    MonitoredSession session(m.g, nullptr, {std::make_shared<NanTensorHook>(m.y, fail)});
    const Tensor nan = Tensor::Scalar(std::numeric_limits<float>::quiet_NaN());
    SayError(session.Run({{m.x, nan}}, {m.y}).status());
    Say(StrCat("should_stop ", session.ShouldStop() ? "True" : "False"));
  }
  {
    scenario = "step_function";
    Model m;
    MonitoredSession session(m.g, nullptr, {Record("a")});
    SayError(session.RunStep([&](HookedStep& step) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(step.session().Run({m.train}));
      return step.Run({.targets = {m.train}}).status();
    }));
    SayError(session.RunStep([](HookedStep& step) { return step.RequestStop(); }));
    SayError(session.Close());
  }
  {
    scenario = "thread_fails";
    Model m;
    auto hook = Record("a");
    MonitoredSession session(m.g, nullptr, {hook});
    hook->coordinator()->RequestStop(absl::InternalError("thread"));
    Say(StrCat("should_stop ", session.ShouldStop() ? "True" : "False"));
    SayError(session.Close());
  }
}

void Refusals() {
  scenario = "refusals";
  Graph g;
  SayError(StopAtStepHook({}).Begin(g));
  SayError(StopAtStepHook({.num_steps = 1, .last_step = 1}).Begin(g));
  SayError(StopAtStep(1)->Begin(g));
  SayError(GlobalStepWaiterHook(1).Begin(g));
  SayError(StepTimer({}).Check());
  SayError(StepTimer({.steps = 1, .secs = 1.0}).Check());
  SayError(LoggingTensorHook({}, {}).Begin(g));
  SayError(LoggingTensorHook({}, {.every = {.steps = 0}}).Begin(g));
}

void Managers() {
  scenario = "managers";
  Graph g;
  Variable v(g, "v", 1.0f);
  const Operation ready(ReportUninitializedVariables(g));
  const Operation local = InitializeLocalVariables(g, "local");
  SayError(SessionManager().PrepareSession(g, {}, {}).status());
  SayError(SessionManager({.local_init_op = local, .ready_for_local_init_op = ready})
               .PrepareSession(g, {}, {})
               .status());
  SayError(SessionManager({.ready_op = ready}).PrepareSession(g, {}, {.init_op = local}).status());
  SayError(SessionManager({.ready_op = ready}).WaitForSession(g, {}, Clock::Duration(0)).status());
}

}  // namespace
}  // namespace sluice

int main() {
  sluice::SetLogSink([](sluice::LogSeverity, const std::string&) {});
  sluice::Loops();
  sluice::SingleSteps();
  sluice::Refusals();
  sluice::Managers();
  return 0;
}
