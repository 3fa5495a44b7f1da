#include "training/metrics/metrics.h"

#include <cmath>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/control/builders.h"
#include "ops/math/builders.h"
#include "ops/reduce/builders.h"
#include "ops/state/variable.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Batch {
  std::vector<float> labels, predictions, weights;
};

// The expected values are those of TensorFlow 2.21 (tf.compat.v1.metrics) for the same two batches.
const Batch kFirst = {{0, 1, 1, 0, 1}, {.1f, .8f, .4f, .3f, .9f}, {1, 2, .5f, 1, 1}};
const Batch kSecond = {{1, 0, 0, 1, 1}, {.2f, .6f, .05f, .7f, .55f}, {3, 1, 1, .25f, 1}};

struct Inputs {
  Inputs() {
    labels = Placeholder(g, DT_FLOAT, {-1}, "labels");
    predictions = Placeholder(g, DT_FLOAT, {-1}, "predictions");
    weights = Placeholder(g, DT_FLOAT, {-1}, "weights");
    said = Cast(Greater(predictions, Constant(g, 0.5f)), DT_FLOAT);
  }
  // Returns the update's result for the first batch, and the metric's value after both batches.
  std::pair<float, float> Run(const Metric& metric) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    const Operation init = InitializeLocalVariables(g);
    Session session(g);
    EXPECT_TRUE(session.Run({init}).ok());
    std::vector<float> values;
    for (const Batch* batch : {&kFirst, &kSecond}) {
      const auto out = session.Run({{labels, Tensor::Vector<float>(batch->labels)},
                                    {predictions, Tensor::Vector<float>(batch->predictions)},
                                    {weights, Tensor::Vector<float>(batch->weights)}},
                                   {metric.update});
      EXPECT_TRUE(out.ok()) << out.status();
      values.push_back(out.ok() ? (*out)[0].scalar<float>() : -1);
    }
    const auto out = session.Run({}, {metric.value});
    EXPECT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].scalar<float>(), values[1]);
    return {values[0], values[1]};
  }

  Graph g;
  Output labels, predictions, weights, said;
};

void ExpectMetric(Inputs& in, const Metric& metric, float first, float both) {
  const auto [got_first, got_both] = in.Run(metric);
  EXPECT_NEAR(got_first, first, 2e-6f * first + 1e-7f);
  EXPECT_NEAR(got_both, both, 2e-6f * both + 1e-7f);
}

// The mean was once too small, because the step that found the end of the input failed, but its
// count was added.
TEST(MetricsTest, AStepThatFailsAddsNoCount) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output values = CheckNumerics(x, "not finite");
  const Metric mean = metrics::Mean(values);
  const Operation init = InitializeLocalVariables(g);
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  const Feed good{x, Tensor::Vector<float>({1, 3})}, bad{x, Tensor::Vector<float>({NAN, 3})};
  ASSERT_TRUE(session.Run({good}, {mean.update}).ok());
  EXPECT_FALSE(session.Run({bad}, {mean.update}).ok());
  const auto out = session.Run({}, {mean.value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 2);
}

TEST(MetricsTest, Mean) {
  Inputs in;
  ExpectMetric(in, metrics::Mean(in.predictions), 0.5f, 0.46f);
  ExpectMetric(in, metrics::Mean(in.predictions, {.weights = in.weights}), 0.5636364f, 0.4319149f);
}

TEST(MetricsTest, Accuracy) {
  Inputs in;
  ExpectMetric(in, metrics::Accuracy(in.labels, in.said), 0.8f, 0.7f);
  ExpectMetric(in, metrics::Accuracy(in.labels, in.said, {.weights = in.weights}), 0.9090909f,
               0.6170213f);
}

TEST(MetricsTest, Errors) {
  Inputs in;
  ExpectMetric(in, metrics::MeanSquaredError(in.labels, in.predictions), 0.102f, 0.1805f);
  ExpectMetric(in, metrics::RootMeanSquaredError(in.labels, in.predictions), 0.3193744f,
               0.4248529f);
  ExpectMetric(in, metrics::MeanAbsoluteError(in.labels, in.predictions, {.weights = in.weights}),
               0.2181818f, 0.406383f);
}

TEST(MetricsTest, Counts) {
  Inputs in;
  ExpectMetric(in, metrics::TruePositives(in.labels, in.said), 2, 4);
  ExpectMetric(in, metrics::FalsePositives(in.labels, in.said), 0, 1);
  ExpectMetric(in, metrics::TrueNegatives(in.labels, in.said), 2, 3);
  ExpectMetric(in, metrics::FalseNegatives(in.labels, in.said, {.weights = in.weights}), 0.5f,
               3.5f);
}

TEST(MetricsTest, PrecisionAndRecall) {
  Inputs in;
  ExpectMetric(in, metrics::Precision(in.labels, in.said), 1.0f, 0.8f);
  ExpectMetric(in, metrics::Precision(in.labels, in.said, {.weights = in.weights}), 1.0f,
               0.8095238f);
  ExpectMetric(in, metrics::Recall(in.labels, in.said), 0.6666667f, 0.6666667f);
  ExpectMetric(in, metrics::Recall(in.labels, in.said, {.weights = in.weights}), 0.8571429f,
               0.5483871f);
}

TEST(MetricsTest, AreaUnderTheCurve) {
  Inputs in;
  ExpectMetric(in, metrics::Auc(in.labels, in.predictions), 0.9999995f, 0.8333332f);
  ExpectMetric(in, metrics::Auc(in.labels, in.predictions, {.weights = in.weights}), 0.9999995f,
               0.7580644f);
  ExpectMetric(in, metrics::Auc(in.labels, in.predictions, {.num_thresholds = 10}), 0.9999995f,
               0.8333332f);
  ExpectMetric(in,
               metrics::Auc(in.labels, in.predictions, {.curve = metrics::Curve::kPrecisionRecall}),
               0.9999996f, 0.8873014f);
}

TEST(MetricsTest, VariablesAndScopesAreTensorFlows) {
  Inputs in;
  metrics::Mean(in.predictions);
  metrics::Accuracy(in.labels, in.said);
  metrics::Precision(in.labels, in.said);
  metrics::Accuracy(in.labels, in.said);
  const Metric auc = metrics::Auc(in.labels, in.predictions, {.name = "area"});
  EXPECT_EQ(auc.value.name(), "area/value:0");
  EXPECT_EQ(auc.update.name(), "area/update_op:0");
  const std::vector<std::string> expected = {"mean/total:0",
                                             "mean/count:0",
                                             "accuracy/total:0",
                                             "accuracy/count:0",
                                             "precision/true_positives/count:0",
                                             "precision/false_positives/count:0",
                                             "accuracy_1/total:0",
                                             "accuracy_1/count:0",
                                             "area/true_positives:0",
                                             "area/false_negatives:0",
                                             "area/true_negatives:0",
                                             "area/false_positives:0"};
  EXPECT_EQ(in.g.collections()["metric_variables"], expected);
  EXPECT_EQ(in.g.collections()["local_variables"], expected);
  EXPECT_EQ(in.g.collections().count("variables"), 0u);
}

TEST(MetricsTest, ALastDimensionOfOneIsDropped) {
  Inputs in;
  ExpectMetric(in, metrics::Accuracy(in.labels, ExpandDims(in.said, Constant(in.g, -1))), 0.8f,
               0.7f);
}

TEST(MetricsTest, NothingTakenInIsZero) {
  Inputs in;
  const Metric mean = metrics::Mean(in.predictions);
  const Operation init = InitializeLocalVariables(in.g);
  Session session(in.g);
  ASSERT_TRUE(session.Run({init}).ok());
  const auto out = session.Run({}, {mean.value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 0);
}

TEST(MetricsTest, TooFewThresholdsAreRefused) {
  Inputs in;
  metrics::Auc(in.labels, in.predictions, {.num_thresholds = 1});
  EXPECT_THAT(in.g.status().message(), HasSubstr("num_thresholds must be at least 2, got 1"));
}

}  // namespace
}  // namespace sluice
