// A model of a table of ratings.
#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"

namespace sluice::demos {

absl::StatusOr<Model> MatrixFactorisation(Graph& g) {
  constexpr int64_t kBatch = 32, kUsers = 60, kItems = 40, kFactors = 8;
  Seeds seeds;
  const Output user = Placeholder(g, DT_INT32, {-1}, "user");
  const Output item = Placeholder(g, DT_INT32, {-1}, "item");
  const Output rating = Placeholder(g, DT_FLOAT, {-1}, "rating");
  Variable users(g, "user_factors", {kUsers, kFactors}, seeds.Normal(0.3));
  Variable user_biases(g, "user_bias", {kUsers}, Zeros());
  Variable items(g, "item_factors", {kItems, kFactors}, seeds.Normal(0.3));
  Variable item_biases(g, "item_bias", {kItems}, Zeros());
  Variable mean(g, "mean", 3.0f);
  const Output p = Gather(users, user), q = Gather(items, item);
  const Output bias = Gather(user_biases, user) + Gather(item_biases, item) + mean;
  const Output error = ReduceSum(p * q, 1) + bias - rating;
  const Output square = ReduceMean(Square(error));
  const Output loss = square + 0.01f * (L2Loss(p) + L2Loss(q)) / static_cast<float>(kBatch);
  const Output root = Sqrt(square);
  const Operation train = Adagrad({.learning_rate = 0.2f}).Minimize(loss);
  if (!g.status().ok()) return g.status();
  return Model{{loss, root}, train, [=](int64_t step) -> Batch {
                 const RatingBatch made = Ratings(step, kBatch, kUsers, kItems);
                 return {{user, made.users}, {item, made.items}, {rating, made.ratings}};
               }};
}

}  // namespace sluice::demos
