// Tests deadness, frames and iterations. Every rule is tested in two modes of the executor, in
// which a loop runs as one node or in frames, and with one thread and several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/compiler/compile.h"
#include "executor/session/session.h"
#include "executor/testing/test_ops.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

struct Mode {
  bool dynamic_loops;
  int threads;
};

class ControlFlow : public ::testing::TestWithParam<Mode> {
 protected:
  SessionOptions Options() const {
    SessionOptions options;
    options.dynamic_loops = GetParam().dynamic_loops;
    options.inter_op_threads = options.intra_op_threads = GetParam().threads;
    return options;
  }
  // Fetches `outputs` several times, because a step must not affect the next.
  std::vector<float> Run(const std::vector<Feed>& feeds, const OutputList& outputs) {
    EXPECT_TRUE(outputs[0].graph()->status().ok()) << outputs[0].graph()->status();
    Session session(*outputs[0].graph(), Options());
    std::vector<float> values;
    for (int i = 0; i < 3; ++i) {
      TakeTrace();
      absl::StatusOr<Tensors> out = session.Run(feeds, outputs);
      EXPECT_TRUE(out.ok()) << out.status();
      if (!out.ok()) return {};
      values.clear();
      for (const Tensor& t : *out) {
        values.push_back(t.dtype() == DT_INT32 ? static_cast<float>(t.scalar<int32_t>())
                                               : t.scalar<float>());
      }
    }
    return values;
  }
  Graph g;
};

Feed Bool(Output p, bool value) { return {p, Tensor::Scalar(value)}; }

TEST_P(ControlFlow, OnlyTheTakenBranchRuns) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s = Switch(Const(g, 10), p);
  const Output yes = Logged(Add(s.if_true, Const(g, 1)), "yes");
  const Output no = Logged(Sub(s.if_false, Const(g, 1)), "no");
  const MergeOutputs m = Merge({no, yes});
  EXPECT_EQ(Run({Bool(p, true)}, {m.output, m.index}), (std::vector<float>{11, 1}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"yes"}));
  EXPECT_EQ(Run({Bool(p, false)}, {m.output, m.index}), (std::vector<float>{9, 0}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"no"}));
}

TEST_P(ControlFlow, DeadnessPassesOverControlEdgesAndThroughAsynchronousNodes) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s = Switch(Const(g, 1), p);
  const Output slow = Instant(s.if_true);
  const Output after = Logged(Const(g, 5), "after", {slow});
  const Output other = Logged(Const(g, 6), "other", {Instant(s.if_false)});
  const MergeOutputs m = Merge({after, other});
  EXPECT_EQ(Run({Bool(p, true)}, {m.output}), (std::vector<float>{5}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"after"}));
  EXPECT_EQ(Run({Bool(p, false)}, {m.output}), (std::vector<float>{6}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"other"}));
}

TEST_P(ControlFlow, ControlTriggerRunsThoughItsInputsAreDead) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s = Switch(Const(g, 1), p);
  Node* trigger = ControlTrigger(g, {Identity(s.if_true), Identity(s.if_false)});
  const Output after = Logged(Const(g, 5), "after", {trigger});
  EXPECT_EQ(Run({Bool(p, true)}, {after}), (std::vector<float>{5}));
}

TEST_P(ControlFlow, FetchOfADeadTensorIsAnError) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s = Switch(Const(g, 1), p);
  Session session(g, Options());
  absl::StatusOr<Tensors> out = session.Run({Bool(p, false)}, {Identity(s.if_true)});
  EXPECT_EQ(out.status(), absl::InvalidArgumentError("Retval[0] does not have value"));
}

// Merge(a, b) is alive if one of its inputs is alive, and dead if both are dead.
TEST_P(ControlFlow, MergeOfInputsThatComeAtDifferentTimes) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const Output q = Placeholder(g, DT_BOOL, {}, "q");
  const Output a = Instant(Switch(Const(g, 1), p).if_true);
  const Output b = Switch(Instant(Const(g, 2)), q).if_true;
  const Output both = Merge({a, b}).output;
  const Output last = Merge({Identity(both), Switch(Const(g, 3), p).if_false}).output;
  EXPECT_EQ(Run({Bool(p, true), Bool(q, false)}, {last}), (std::vector<float>{1}));
  EXPECT_EQ(Run({Bool(p, false), Bool(q, false)}, {last}), (std::vector<float>{3}));
}

TEST_P(ControlFlow, WhileLoopCounts) {
  const Output n = Placeholder(g, DT_FLOAT, {}, "n");
  const Output limit = Enter(n, "loop", /*constant=*/true);
  const Output one = Enter(Const(g, 1), "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0), Const(g, 100)},
      [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) {
        return OutputList{Add(v[0], one), Sub(v[1], v[0])};
      });
  auto fed = [&](float v) { return std::vector<Feed>{{n, Tensor::Scalar(v)}}; };
  EXPECT_EQ(Run(fed(0), out), (std::vector<float>{0, 100}));
  EXPECT_EQ(Run(fed(4), out), (std::vector<float>{4, 94}));
  EXPECT_EQ(Run(fed(1000), {out[0]}), (std::vector<float>{1000}));
}

TEST_P(ControlFlow, LoopWithAsynchronousBody) {
  for (int parallel : {1, 2, 10}) {
    const std::string frame = "loop" + std::to_string(parallel);
    const Output one = Enter(Const(g, 1), frame, true, parallel);
    const Output limit = Enter(Const(g, 50), frame, true, parallel);
    const OutputList out = WhileLoop(
        frame, {Const(g, 0), Const(g, 0)},
        [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) {
          return OutputList{Add(v[0], one), Instant(Add(v[1], Instant(v[0])))};
        },
        parallel);
    EXPECT_EQ(Run({}, out), (std::vector<float>{50, 1225}));
  }
}

TEST_P(ControlFlow, NestedLoops) {
  for (const bool async : {false, true}) {
    const std::string f = async ? "a" : "s";
    const Output one = Enter(Const(g, 1), f + "outer", true);
    const Output limit = Enter(Const(g, 5), f + "outer", true);
    const OutputList out = WhileLoop(
        f + "outer", {Const(g, 0), Const(g, 0)},
        [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) {
          const Output inner_limit = Enter(v[0], f + "inner", true);
          const Output inner_one = Enter(one, f + "inner", true);
          const OutputList inner = WhileLoop(
              f + "inner", {Sub(v[0], v[0]), v[1]},
              [&](const OutputList& w) { return OutputList{Less(w[0], inner_limit)}; },
              [&](const OutputList& w) {
                const Output next = Add(w[1], inner_one);
                return OutputList{Add(w[0], inner_one), async ? Instant(next) : next};
              });
          return OutputList{Add(v[0], one), inner[1]};
        });
    EXPECT_EQ(Run({}, out), (std::vector<float>{5, 10})) << async;  // 0 + 1 + 2 + 3 + 4
  }
}

TEST_P(ControlFlow, LoopOnTheBranchNotTakenPassesItsDeadExitsOn) {
  for (const bool async : {false, true}) {
    const std::string f = async ? "da" : "ds";
    const Output p = Placeholder(g, DT_BOOL);
    const SwitchOutputs s = Switch(Const(g, 0), p);
    const Output one = Enter(Switch(Const(g, 1), p).if_true, f, true);
    const Output limit = Enter(Switch(Const(g, 7), p).if_true, f, true);
    const OutputList loop = WhileLoop(
        f, {s.if_true}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) {
          const Output next = Add(v[0], one);
          return OutputList{async ? Instant(next) : next};
        });
    const Output out = Merge({Identity(s.if_false), loop[0]}).output;
    EXPECT_EQ(Run({Bool(p, true)}, {out}), (std::vector<float>{7}));
    EXPECT_EQ(Run({Bool(p, false)}, {out}), (std::vector<float>{0}));
  }
}

TEST_P(ControlFlow, CondInsideALoop) {
  const Output one = Enter(Const(g, 1), "loop", true);
  const Output half = Enter(Const(g, 5), "loop", true);
  const Output limit = Enter(Const(g, 10), "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0), Const(g, 0)},
      [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) {
        const SwitchOutputs s = Switch(v[1], Less(v[0], half));
        const Output low = Logged(Add(s.if_true, one), "low");
        const Output high = Logged(Sub(s.if_false, one), "high");
        return OutputList{Add(v[0], one), Merge({high, low}).output};
      });
  EXPECT_EQ(Run({}, out), (std::vector<float>{10, 0}));
  const std::vector<std::string> trace = TakeTrace();
  EXPECT_EQ(CountInTrace(trace, "low"), 5);
  EXPECT_EQ(CountInTrace(trace, "high"), 5);
}

TEST_P(ControlFlow, ErrorInsideALoopEndsTheStep) {
  for (const bool async : {false, true}) {
    const std::string f = async ? "ea" : "es";
    const Output limit = Enter(Const(g, 10), f, true);
    const OutputList loop = WhileLoop(
        f, {Const(g, 0)}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) {
          return OutputList{Fail(async ? Instant(v[0]) : v[0], f + "bad")};
        });
    Session session(g, Options());
    for (int i = 0; i < 3; ++i) {
      const absl::Status status = session.Run({}, {loop[0]}).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
      EXPECT_THAT(std::string(status.message()), HasSubstr("[[{{node " + f + "bad}}]]"));
    }
  }
}

TEST_P(ControlFlow, InputsOfDifferentFramesAreRefused) {
  const Output inside = Enter(Const(g, 1), "loop");
  const Output bad = Add(inside, Const(g, 1));
  const Output mixed = Add(bad, Instant(Const(g, 1)), "mixed");
  Session session(g, Options());
  EXPECT_THAT(std::string(session.Run({}, {Exit(mixed)}).status().message()),
              HasSubstr("has inputs from different frames. The input {{node "));
}

// A client could end a server by such a step.
TEST_P(ControlFlow, AFrameOfEnterNodesRuns) {
  const Output once = Enter(Const(g, 1), "frame");
  const Output constant = Enter(Const(g, 2), "frame", /*constant=*/true);
  Session session(g, Options());
  EXPECT_TRUE(session.Run({}, {}, {Operation(once)}).ok());
  EXPECT_TRUE(session.Run({}, {}, {Operation(constant)}).ok());
  EXPECT_TRUE(session.Run({}, {}, {Operation(once), Operation(constant)}).ok());
}

// TensorFlow does the same.
TEST_P(ControlFlow, ANextIterationOutsideOfALoopPassesItsInputOn) {
  const Output next = NextIteration(NextIteration(Const(g, 3)));
  const Output sum = Add(next, Const(g, 1));
  Session session(g, Options());
  const auto out = session.Run({}, {next, sum});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 3);
  EXPECT_EQ((*out)[1].scalar<float>(), 4);
}

// Each variable's next value is another variable's value, so none may be overwritten before it is
// read.
TEST_P(ControlFlow, VariablesOfALoopChangePlaces) {
  const Output one = Enter(Const(g, 1), "loop", true);
  const Output limit = Enter(Const(g, 7), "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0), Const(g, 10), Const(g, 20)},
      [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) {
        return OutputList{Add(v[0], one), Identity(v[2]), v[1]};
      });
  EXPECT_EQ(Run({}, out), (std::vector<float>{7, 20, 10}));
}

// The body has no kernel: its variable and condition only forward values.
TEST_P(ControlFlow, AnEmptyLoopEndsWhenItsTimeIsUp) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const Output goes_on = Enter(p, "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0)}, [&](const OutputList&) { return OutputList{goes_on}; },
      [&](const OutputList& v) { return OutputList{Identity(v[0])}; });
  Session session(g, Options());
  const auto late = session.Run({Bool(p, true)}, out, {}, {.timeout_ms = 20});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
  EXPECT_EQ(Run({Bool(p, false)}, out), (std::vector<float>{0}));
}

// Not really a loop: the value exits while the condition is false, and no value is carried.
TEST_P(ControlFlow, AFrameWithoutVariablesRunsOnce) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s =
      Switch(Enter(Const(g, 3), "loop", true), LoopCond(Enter(p, "loop", true)));
  const Output out = Merge({Exit(s.if_false), Switch(Const(g, 5), p).if_true}).output;
  EXPECT_EQ(Run({Bool(p, false)}, {out}), (std::vector<float>{3}));
  EXPECT_EQ(Run({Bool(p, true)}, {out}), (std::vector<float>{5}));
}

struct Nothing final : Kernel {
  absl::Status Compute(KernelContext&) override { return absl::OkStatus(); }
};

absl::StatusOr<std::shared_ptr<const Plan>> PlanOf(const Graph& g) {
  CompileOptions options;
  options.kernel = [](const Node&) -> absl::StatusOr<std::shared_ptr<Kernel>> {
    return std::make_shared<Nothing>();
  };
  return CompilePlan(std::shared_ptr<const Graph>(&g, [](const Graph*) {}), options);
}

Output ConstAfter(Graph& g, Output before, float value) {
  const Output constant = Const(g, value);
  g.AddControlEdge(before.node, constant.node);
  return constant;
}

TEST_P(ControlFlow, ConstantsThatWaitBelongToTheirBranch) {
  const Output p = Placeholder(g, DT_BOOL, {}, "p");
  const SwitchOutputs s = Switch(Const(g, 10), p);
  const Output five = ConstAfter(g, Identity(s.if_true), 5);
  const Output yes = Logged(Add(five, Const(g, 1)), "yes");
  const Output no = ConstAfter(g, Instant(s.if_false), 7);
  const MergeOutputs m = Merge({no, yes});
  EXPECT_EQ(Run({Bool(p, true)}, {m.output, m.index}), (std::vector<float>{6, 1}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"yes"}));
  EXPECT_EQ(Run({Bool(p, false)}, {m.output, m.index}), (std::vector<float>{7, 0}));
  EXPECT_EQ(TakeTrace(), std::vector<std::string>());
}

TEST_P(ControlFlow, ReadersOfAConstantWaitForWhatItWaitsFor) {
  const Output first = Logged(Instant(Const(g, 1)), "first");
  const Output second = Logged(Add(ConstAfter(g, first, 2), Const(g, 3)), "second");
  EXPECT_EQ(Run({}, {second, first}), (std::vector<float>{5, 1}));
  EXPECT_EQ(TakeTrace(), (std::vector<std::string>{"first", "second"}));
}

TEST_P(ControlFlow, ConstantsInsideALoop) {
  const Output limit = Enter(Const(g, 10), "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0), Const(g, 0)},
      [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) {
        return OutputList{Add(v[0], ConstAfter(g, v[0], 2)), ConstAfter(g, v[1], 4)};
      });
  EXPECT_EQ(Run({}, out), (std::vector<float>{10, 4}));
}

TEST(ConstantsThatWait, AreNoNodesWhereOnlyKernelsReadThem) {
  for (const bool is_merged : {false, true}) {
    Graph g;
    const Output constant = ConstAfter(g, Instant(Const(g, 1)), 2);
    if (is_merged) {
      Merge({constant, constant});
    } else {
      Add(constant, constant);
    }
    const auto plan = PlanOf(g);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ((*plan)->bodies[0].nodes.size(), is_merged ? 3 : 2);
  }
}

TEST(LoopPhases, AreFoundWhereNothingInsideCanBeDead) {
  for (const bool has_cond : {false, true}) {
    Graph g;
    const Output limit = Enter(Const(g, 10), "loop", true);
    WhileLoop(
        "loop", {Const(g, 0), Const(g, 0)},
        [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) {
          if (!has_cond) return OutputList{Add(v[0], v[1]), v[1]};
          const SwitchOutputs s = Switch(v[1], Less(v[0], v[1]));
          return OutputList{Add(v[0], v[1]), Merge({s.if_true, s.if_false}).output};
        });
    const auto plan = PlanOf(g);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ((*plan)->loops.size(), 1);
    const Loop& loop = (*plan)->loops[0];
    EXPECT_EQ(loop.phased_body == 0, has_cond);
    if (has_cond) continue;
    // Two variables, Less; LoopCond; Add, two NextIterations; two Exits: no Switch, no Identity.
    const Body& body = (*plan)->bodies[loop.phased_body];
    EXPECT_EQ(body.phases.num_variables, 2);
    EXPECT_EQ(body.phases.condition, 3);
    EXPECT_EQ(body.phases.first_carry, 5);
    EXPECT_EQ(body.phases.first_false, 7);
    EXPECT_EQ(body.nodes.size(), 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ControlFlow,
                         ::testing::Values(Mode{false, 1}, Mode{false, 3}, Mode{true, 1},
                                           Mode{true, 3}));

}  // namespace
}  // namespace sluice
