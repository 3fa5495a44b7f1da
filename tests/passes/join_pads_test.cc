// Sums of padded parts that cover a tensor are joined, with the same results.
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using Build = std::function<Output(Output x)>;

// The result, and the number of Pads that a step runs.
struct Outcome {
  Tensor y;
  int pads = 0;
};

absl::StatusOr<Outcome> OutcomeOf(const Build& build, const PartialShape& known, const Tensor& x,
                                  std::set<std::string> disabled) {
  Graph g;
  const Output fed = Placeholder(g, DT_FLOAT, known, "x");
  const Output y = build(Exp(fed));
  SLUICE_RETURN_IF_ERROR(g.status());
  Session session(g, Without(std::move(disabled)));
  std::map<std::string, int> counts;
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, RunAndCount(session, {{{fed, x}}}, {y}, {}, &counts));
  return Outcome{out[0], counts["Pad"]};
}

Output Padded(Output x, std::initializer_list<int32_t> paddings) {
  return Pad(x, Constant(*x.graph(), Tensor::Of<int32_t>({x.shape().rank(), 2}, paddings)));
}

// The gradient of a sum over parts of x.
Output GradientOf(Output x, std::initializer_list<Output> parts) {
  OutputList terms;
  for (const Output& part : parts) terms.push_back(ReduceSum(Square(part)));
  const absl::StatusOr<std::vector<Grad>> gradients = Gradients({AddN(terms)}, {x});
  EXPECT_TRUE(gradients.ok()) << gradients.status();
  return (*gradients)[0].dense();
}

struct Row {
  const char* name;
  PartialShape known;
  int pads;  // that are left
  Build build;
};

std::vector<Row> Rows() {
  const PartialShape all = {5, 4};
  return {
      {"rows of a tensor", all, 0,
       [](Output x) {
         return GradientOf(
             x, {Slice(x, {2, 0}, {2, 4}), Slice(x, {0, 0}, {2, 4}), Slice(x, {4, 0}, {1, 4})});
       }},
      {"columns", all, 0,
       [](Output x) {
         return GradientOf(x, {Slice(x, {0, 0}, {5, 1}), Slice(x, {0, 1}, {5, 3})});
       }},
      {"parts beside each other", all, 0,
       [](Output x) {
         return AddN({Padded(x, {0, 5, 0, 0}), Padded(x * 2.0f, {5, 0, 0, 0})});
       }},
      {"on a branch", all, 0,
       [](Output x) {
         Graph& g = *x.graph();
         return Cond(
             Less(ReduceSum(x), Constant(g, 1e9f)),
             [&] {
               return AddN({Padded(x, {0, 5, 0, 0}), Padded(Sin(x), {5, 0, 0, 0})});
             },
             [&] {
               return Concat({x, x}, 0);
             })[0];
       }},
      {"a gap", all, 2,
       [](Output x) {
         return AddN({Padded(x, {0, 6, 0, 0}), Padded(x, {6, 0, 0, 0})});
       }},
      {"an overlap", all, 2,
       [](Output x) {
         return AddN({Padded(x, {0, 4, 0, 0}), Padded(x, {4, 0, 0, 0})});
       }},
      {"the same part twice", all, 3,
       [](Output x) {
         return AddN({Padded(x, {0, 5, 0, 0}), Padded(x, {5, 0, 0, 0}), Padded(x, {5, 0, 0, 0})});
       }},
      {"no end", all, 2,
       [](Output x) {
         return AddN({Padded(x, {0, 7, 0, 0}), Padded(x, {5, 2, 0, 0})});
       }},
      {"other dimensions", all, 2,
       [](Output x) {
         return AddN({Padded(Slice(x, {0, 0}, {4, 4}), {0, 1, 0, 0}),
                      Padded(Slice(x, {0, 0}, {5, 3}), {0, 0, 0, 1})});
       }},
      {"both dimensions", all, 2,
       [](Output x) {
         return AddN({Padded(x, {0, 5, 0, 4}), Padded(x, {5, 0, 4, 0})});
       }},
      {"sizes that are not known", PartialShape({-1, 4}), 2,
       [](Output x) {
         return AddN({Padded(x, {0, 5, 0, 0}), Padded(x, {5, 0, 0, 0})});
       }},
      {"a part that is read elsewhere too", all, 2,
       [](Output x) {
         const Output first = Padded(x, {0, 5, 0, 0});
         return AddN({first, Padded(x, {5, 0, 0, 0})}) * first;
       }},
      {"no elements", PartialShape({5, 4}), 2,
       [](Output x) {
         return AddN({Padded(Slice(x, {0, 0}, {0, 4}), {0, 5, 0, 0}), Padded(x, {0, 0, 0, 0})});
       }},
  };
}

TEST(JoinPads, CoveringPartsAreJoinedAndOthersAreNot) {
  Tensor x(DT_FLOAT, {5, 4});
  for (int i = 0; i < 20; ++i) x.data<float>()[i] = 0.1f * static_cast<float>(i * 7 % 11) - 0.5f;
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    const absl::StatusOr<Outcome> before =
        OutcomeOf(row.build, row.known, x, {"join_pads", "common_subexpressions"});
    const absl::StatusOr<Outcome> after =
        OutcomeOf(row.build, row.known, x, {"common_subexpressions"});
    ASSERT_TRUE(before.ok()) << before.status();
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_GE(before->pads, 2);
    EXPECT_EQ(after->pads, row.pads);
    ASSERT_EQ(after->y.shape(), before->y.shape());
    for (int64_t i = 0; i < before->y.num_elements(); ++i) {
      EXPECT_EQ(after->y.data<float>()[i], before->y.data<float>()[i]) << i;
    }
  }
}

TEST(JoinPads, FetchedPartsStay) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  const Output part = Padded(x, {0, 2}), sum = AddN({part, Padded(x, {2, 0})});
  Session session(g);
  const absl::StatusOr<Tensors> out =
      session.Run({{x, Tensor::Vector<float>({1, 2})}}, {part, sum});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), ::testing::ElementsAre(1, 2, 0, 0));
  EXPECT_THAT((*out)[1].flat<float>(), ::testing::ElementsAre(1, 2, 1, 2));
}

TEST(JoinPads, OfEachIterationOfALoop) {
  for (const bool joins : {false, true}) {
    Graph g;
    const Output x = Placeholder(g, DT_FLOAT, {2}, "x");
    const OutputList r = WhileLoop(
        [&](const OutputList& v) { return Less(v[0], Constant(g, 3)); },
        [&](const OutputList& v) {
          const Output low = Slice(v[1], {0}, {1}), high = Slice(v[1], {1}, {1});
          return OutputList{v[0] + 1, AddN({Padded(high, {0, 1}), Padded(low * 2.0f, {1, 0})})};
        },
        {Constant(g, 0), x});
    Session session(g, joins ? SessionOptions() : Without({"join_pads"}));
    const absl::StatusOr<Tensors> out = session.Run({{x, Tensor::Vector<float>({1, 10})}}, {r[1]});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT((*out)[0].flat<float>(), ::testing::ElementsAre(20, 4));
  }
}

}  // namespace
}  // namespace sluice
