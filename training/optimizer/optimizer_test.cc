// Tests the base class: texts of errors, gates, processors, constraints and slots.
// tests/oracle/training compares the nodes and values of the optimizers with TensorFlow's.
#include "training/optimizer/optimizer.h"

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/embedding/partitioned_variable.h"
#include "ops/state/constraint.h"
#include "ops/sugar.h"
#include "training/checkpoint/saver.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/ftrl.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Declare a port of a model that is trained elsewhere, and a user-defined table.
OP(SubmodelPort, "A port.").Output("value", "float").Shape(ScalarOutput());
OP(TestTable, "A user's own kind.").Output("value", "float").Shape(ScalarOutput());

GradientDescent Sgd(std::string name = "GradientDescent") {
  return GradientDescent({.learning_rate = 0.5f, .name = std::move(name)});
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

// Returns the values of `fetches` after one run of `train`.
std::vector<float> After(Graph& g, Operation train, const OutputList& fetches) {
  const Operation init = InitializeVariables(g);
  Session session(g);
  absl::Status status = session.Run({init});
  if (status.ok()) status = session.Run({train});
  const absl::StatusOr<Tensors> values = session.Run({}, fetches);
  EXPECT_TRUE(status.ok() && values.ok()) << status << values.status();
  std::vector<float> numbers;
  if (!values.ok()) return numbers;
  for (const Tensor& t : *values) {
    for (int64_t i = 0; i < t.num_elements(); ++i) numbers.push_back(t.data<float>()[i]);
  }
  return numbers;
}

TEST(OptimizerErrors, NoName) {
  Graph g;
  Variable w(g, "w", 1.0f);
  EXPECT_EQ(ErrorOf(Sgd("").ComputeGradients(Square(w)).status()),
            "Must specify the optimizer name");
  EXPECT_EQ(ErrorOf(Sgd("").ApplyGradients({{Output(w), w}}).status()),
            "Must specify the optimizer name");
}

TEST(OptimizerErrors, UnknownGate) {
  Graph g;
  Variable w(g, "w", 1.0f);
  EXPECT_EQ(ErrorOf(Sgd().ComputeGradients(Square(w), {.gate = static_cast<Gate>(7)}).status()),
            "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
            "Optimizer.GATE_GRAPH.  Not 7");
}

TEST(OptimizerErrors, TypesThatCannotBeTrained) {
  Graph g;
  Variable w(g, "w", 1.0f);
  Output n = Constant(g, 3, "n");
  const std::string expected = ", expected: [tf.float16, tf.bfloat16, tf.float32, tf.float64].";
  EXPECT_EQ(ErrorOf(Sgd().ComputeGradients(n).status()),
            "Invalid type tf.int32 for n:0" + expected);
  EXPECT_EQ(ErrorOf(Sgd().ComputeGradients(Square(w), {.grad_loss = n}).status()),
            "Invalid type tf.int32 for n:0" + expected);
}

// A complex resource variable was once accepted, because the type of its handle was checked
// instead.
TEST(OptimizerErrors, VariablesThatCannotBeTrained) {
  for (const bool use_resource : {false, true}) {
    Graph g;
    Variable c(g, "c", Tensor::Scalar(complex64(1, 2)), {.use_resource = use_resource});
    Variable w(g, "w", 1.0f, {.use_resource = use_resource});
    const Output loss = Real(Square(Output(c))) + w;
    EXPECT_EQ(ErrorOf(Sgd().ComputeGradients(loss).status()),
              "Invalid type tf.complex64 for c:0, expected: [tf.float16, tf.bfloat16, tf.float32, "
              "tf.float64].");
    EXPECT_TRUE(Sgd().ComputeGradients(loss, {.var_list = {w}}).ok());
  }
}

TEST(DefaultVariables, AreTheTrainableOnesAndThoseOfResources) {
  Graph g;
  Variable w(g, "w", 1.0f);
  Variable fixed(g, "fixed", 1.0f, {.trainable = false});
  Variable r(g, "r", 1.0f, {.trainable = false});
  g.AddToCollection("trainable_resource_variables", "r:0");
  const auto pairs = Sgd().ComputeGradients(w * fixed * r);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  std::vector<std::string> names;
  for (const GradientAndVariable& gv : *pairs) names.push_back(gv.var.name());
  EXPECT_THAT(names, ElementsAre("w", "r"));
}

TEST(OptimizerErrors, NothingToOptimize) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  EXPECT_EQ(ErrorOf(Sgd().ComputeGradients(ReduceSum(x)).status()), "No variables to optimize.");
  EXPECT_EQ(ErrorOf(Sgd().ApplyGradients({}).status()), "No variables provided.");
}

TEST(OptimizerErrors, NoGradients) {
  Graph g;
  Variable w(g, "w", 1.0f), v(g, "v", 1.0f);
  EXPECT_EQ(ErrorOf(Sgd().ApplyGradients({{Grad(), w}, {Grad(), v}}).status()),
            "No gradients provided for any variable: ['w', 'v'].");
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  EXPECT_FALSE(Sgd().Minimize(ReduceSum(x, {}, {.name = "loss"})));
  EXPECT_EQ(ErrorOf(g.status()),
            "No gradients provided for any variable, check your graph for ops that do not support "
            "gradients, between variables ['w', 'v'] and loss loss:0.");
}

TEST(OptimizerErrors, BadNumbers) {
  Graph g;
  Variable w(g, "w", 1.0f);
  const Output loss = Square(w);
  auto error = [&](Optimizer&& optimizer) {
    return ErrorOf(optimizer.ComputeGradients(loss).status());
  };
  EXPECT_EQ(error(Adagrad({.initial_accumulator_value = 0})),
            "initial_accumulator_value must be positive: 0");
  EXPECT_EQ(error(Ftrl({.learning_rate_power = 1})),
            "learning_rate_power 1.000000 needs to be negative or zero");
  EXPECT_EQ(error(Ftrl({.initial_accumulator_value = -1})),
            "initial_accumulator_value -1.000000 needs to be positive or zero");
  EXPECT_EQ(error(Ftrl({.l1_regularization_strength = -0.5f})),
            "l1_regularization_strength -0.500000 needs to be positive or zero");
  EXPECT_EQ(error(Ftrl({.l2_shrinkage_regularization_strength = -2})),
            "l2_shrinkage_regularization_strength -2.000000 needs to be positive or zero");
}

TEST(Processors, ATensorCanBeDifferentiatedByButNotUpdated) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
  const auto pairs = Sgd().ComputeGradients(Square(x), {.var_list = {VariableOfTensor(x)}});
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  const absl::Status status = Sgd().ApplyGradients(*pairs).status();
  EXPECT_EQ(status, absl::UnimplementedError("Trying to update a Tensor x:0"));
}

TEST(Processors, WhatIsNoNumberIsRefused) {
  Graph g;
  Variable w(g, "w", 1.0f);
  Output s = Constant(g, "text", "s");
  EXPECT_EQ(Sgd().ComputeGradients(Square(w), {.var_list = {VariableOfTensor(s)}}).status(),
            absl::UnimplementedError("Trying to optimize unsupported type s:0"));
  Output handle = VarHandleOp(g, DT_FLOAT, PartialShape::Scalar(), {.name = "bare"});
  EXPECT_EQ(
      ErrorOf(Sgd().ComputeGradients(Square(w), {.var_list = {VariableOfTensor(handle)}}).status()),
      "Got bare:0 but could not locate source variable.");
}

TEST(Processors, AReadIsAppliedToTheVariableBehindIt) {
  Graph g;
  Variable w(g, "w", 3.0f);
  const Output read = w.Read();
  const Output loss = read * Output(w);  // d/d(read) = w: the other use does not count
  GradientDescent sgd = Sgd();
  const auto pairs = sgd.ComputeGradients(loss, {.var_list = {VariableOfTensor(read)}});
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  const absl::StatusOr<Operation> train = sgd.ApplyGradients(*pairs);
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_THAT(After(g, *train, {w}), ElementsAre(3 - 0.5f * 3));
}

TEST(Processors, APortsUpdateIsItsGradient) {
  Graph g;
  Variable w(g, "w", 3.0f);
  Node* port = NodeBuilder(&g, "SubmodelPort", At::current()).Name("port").Finish();
  g.AddToCollection("streaming_model_ports", "port:0");
  GradientDescent sgd = Sgd();
  const auto pairs = sgd.ComputeGradients(w * Output(port));
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  ASSERT_EQ(pairs->size(), 2u);
  EXPECT_EQ((*pairs)[1].var.name(), "port");
  const absl::StatusOr<Operation> train = sgd.ApplyGradients(*pairs);
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_THAT(train->node->control_inputs(), testing::Contains((*pairs)[1].grad.dense().node));
}

TEST(Processors, OfAUsersOwnKind) {
  class Table : public VariableProcessor {
   public:
    using VariableProcessor::VariableProcessor;
    absl::StatusOr<Operation> UpdateOp(Optimizer&, const Grad& grad) const override {
      return Operation(Identity(grad.dense(), {.name = "send_to_table"}));
    }
  };
  RegisterVariableProcessor("TestTable",
                            [](const Variable& v) { return std::make_unique<Table>(v); });
  Graph g;
  Output table(NodeBuilder(&g, "TestTable", At::current()).Name("table").Finish());
  const Operation train = Sgd().Minimize(Square(table), {.var_list = {VariableOfTensor(table)}});
  ASSERT_TRUE(train) << g.status();
  EXPECT_NE(g.Find("GradientDescent/update_table/send_to_table"), nullptr);
}

// The constraint keeps the value of either kind of variable in [0, 1].
class Constraints : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Constraints, testing::Bool());

Output ClipToUnit(Output value) {
  return Minimum(Maximum(value, ZerosLike(value)), OnesLike(value));
}

TEST_P(Constraints, AreAppliedAfterTheUpdate) {
  Graph g;
  Variable w(g, "w", Tensor::Vector<float>({0.25f, 0.5f, 0.75f}), {.use_resource = GetParam()});
  Constrain(w, ClipToUnit);
  const Output push = Constant(g, {1.0f, 0.1f, -1.0f});
  const Operation train = Sgd().Minimize(ReduceSum(w * push));
  ASSERT_TRUE(train) << g.status();
  EXPECT_THAT(After(g, train, {w}), ElementsAre(0, testing::FloatEq(0.45f), 1));
}

TEST_P(Constraints, AreNotForSparseGradients) {
  Graph g;
  Variable w(g, "w", Tensor::Of<float>({2, 1}, {1, 2}), {.use_resource = GetParam()});
  Constrain(w, ClipToUnit);
  const auto pairs = Sgd().ComputeGradients(ReduceSum(Gather(w, Constant(g, {0}))));
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_EQ(
      Sgd().ApplyGradients(*pairs).status(),
      absl::FailedPreconditionError("Cannot use a constraint function on a sparse variable."));
}

TEST_P(Constraints, GoWithTheGraph) {
  for (const bool constrained :
       {true, false}) {  // the second graph may have the first one's address
    Graph g;
    Variable w(g, "w", 1.0f, {.use_resource = GetParam()});
    if (constrained) Constrain(w, ClipToUnit);
    EXPECT_EQ(static_cast<bool>(ConstraintOf(w)), constrained);
  }
}

// The constructor forgets the learning rate.
struct ForgetfulOptions {
  bool use_locking = false;
  std::string name = "Forgetful";
};
class Forgetful : public RuleOptimizer {
 public:
  Forgetful() : RuleOptimizer(kMomentum, ForgetfulOptions{}, {{"accum"}}, {{"momentum", 0.5f}}) {}
};

TEST(RuleOptimizerTest, AScalarWithoutAValueIsAnError) {
  Graph g;
  Variable w(g, "w", 1.0f);
  EXPECT_FALSE(Forgetful().Minimize(Square(w)));
  EXPECT_EQ(ErrorOf(g.status()), "ResourceApplyMomentum: no value for input lr");
}

TEST(Slots, AreOutsideOfBranches) {
  Graph g;
  Variable w(g, "w", 4.0f);
  Momentum momentum({.learning_rate = 0.5f});
  Output pred = Placeholder(g, DT_BOOL, PartialShape::Scalar(), "p");
  const Output loss = Square(w);
  const auto pairs = momentum.ComputeGradients(loss);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  const OutputList done = Cond(
      pred, [&]() -> BranchResult { return momentum.ApplyGradients(*pairs).value_or(Operation()); },
      [&]() -> BranchResult { return NoOp(g); });
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::optional<Variable> slot = momentum.GetSlot(w, "momentum");
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->op().node->context(), nullptr);
  EXPECT_EQ(slot->initializer().node->context(), nullptr);
  const Operation init = InitializeVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run({{pred, Tensor::Scalar(false)}}, done).ok());
  EXPECT_EQ((*session.Run({}, {w}))[0].scalar<float>(), 4);
  ASSERT_TRUE(session.Run({{pred, Tensor::Scalar(true)}}, done).ok());
  EXPECT_EQ((*session.Run({}, {w}))[0].scalar<float>(), 0);
}

TEST(Slots, WaitForNothing) {
  Graph g;
  Variable w(g, "w", 4.0f);
  Momentum momentum({.learning_rate = 0.5f});
  const auto pairs = momentum.ComputeGradients(Square(w));
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  const Operation first = NoOp(g, {.name = "first"});
  ControlDependencies after(g, {first});
  ASSERT_TRUE(momentum.ApplyGradients(*pairs).ok());
  const std::optional<Variable> slot = momentum.GetSlot(w, "momentum");
  ASSERT_TRUE(slot.has_value());
  for (const Operation& op : {slot->op(), slot->initializer(), Operation(slot->initial_value())}) {
    EXPECT_THAT(op.node->control_inputs(), testing::IsEmpty()) << op.name();
  }
}

TEST(Slots, AreFoundAgain) {
  Graph g;
  Variable w(g, "w", 4.0f);
  Momentum momentum({.learning_rate = 0.5f});
  ASSERT_TRUE(momentum.Minimize(Square(w)));
  ASSERT_TRUE(momentum.Minimize(w * 2.0f));
  EXPECT_THAT(momentum.GetSlotNames(), ElementsAre("momentum"));
  EXPECT_EQ(momentum.Variables().size(), 1u);
  EXPECT_EQ(momentum.GetSlot(w, "momentum")->name(), "w/Momentum");
  EXPECT_EQ(momentum.GetSlot(w, "other"), std::nullopt);
  EXPECT_EQ(g.collections()["train_op"].size(), 2u);
}

TEST(Gates, AllGradientsWaitForEachOther) {
  Graph g;
  Variable w(g, "w", 4.0f), v(g, "v", 1.0f);
  const auto pairs = Sgd().ComputeGradients(w * v, {.gate = Gate::kGraph});
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  const Node* first = (*pairs)[0].grad.dense().node;
  ASSERT_EQ(first->op(), "Identity");
  ASSERT_EQ(first->control_inputs().size(), 1u);
  EXPECT_EQ(first->control_inputs().front(),
            (*pairs)[1].grad.dense().node->control_inputs().front());
  const auto free = Sgd().ComputeGradients(w * v, {.gate = Gate::kNone});
  ASSERT_TRUE(free.ok());
  EXPECT_NE((*free)[0].grad.dense().node->op(), "Identity");
}

TEST(GradLoss, ScalesTheGradient) {
  Graph g;
  Variable w(g, "w", 4.0f);
  const Operation train = Sgd().Minimize(Square(w), {.grad_loss = Constant(g, 0.25f)});
  ASSERT_TRUE(train) << g.status();
  EXPECT_THAT(After(g, train, {w}), ElementsAre(4 - 0.5f * 0.25f * 8));
}

TEST(HyperParameters, MayBeVariablesAndFunctions) {
  Graph g;
  Variable w(g, "w", 4.0f), rate(g, "rate", 0.25f, {.trainable = false});
  const Operation by_variable =
      GradientDescent({.learning_rate = rate}).Minimize(Square(w), {.var_list = {w}});
  auto half = [](Graph& graph) { return Constant(graph, 0.5f, "half"); };
  const Operation by_function =
      GradientDescent({.learning_rate = HyperParameter(half), .name = "Other"})
          .Minimize(Square(w), {.var_list = {w}});
  ASSERT_TRUE(by_variable && by_function) << g.status();
  EXPECT_NE(g.Find("Other/half"), nullptr);
  EXPECT_THAT(After(g, by_variable, {w}), ElementsAre(4 - 0.25f * 8));
  EXPECT_THAT(After(g, by_function, {w}), ElementsAre(4 - 0.5f * 8));
}

// Whatever the partition is, TensorFlow's checkpoint of the same model has w, w/Adam and w/Adam_1
// of shape [4, 2].
TEST(OptimizerTest, SlotsOfAPartAreSavedAsParts) {
  for (const bool use_resource : {false, true}) {
    Graph g;
    const PartitionedVariable w(g, "w", {4, 2}, Ones(), {2}, {.use_resource = use_resource});
    Adam({.learning_rate = 0.1f}).Minimize(ReduceSum(Square(w.Read())));
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto saved = SavedVariables(g, {});
    ASSERT_TRUE(saved.ok()) << saved.status();
    std::vector<std::string> lines;
    for (const SavedVariable& s : *saved) lines.push_back(StrCat(s.name, " ", s.shape_and_slice));
    EXPECT_THAT(lines, ElementsAre("beta1_power ", "beta2_power ", "w 4 2 0,2:0,2", "w 4 2 2,2:0,2",
                                   "w/Adam 4 2 0,2:0,2", "w/Adam 4 2 2,2:0,2",
                                   "w/Adam_1 4 2 0,2:0,2", "w/Adam_1 4 2 2,2:0,2"));
  }
}

}  // namespace
}  // namespace sluice
