// Models over tables: ratings and clicks.
#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/dense.h"
#include "training/layers/losses.h"

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

namespace {

constexpr int64_t kTableBatch = 16, kBuckets = 40, kTableSize = 4;

struct ClickInputs {
  Output numbers;     // log(1 + x)
  OutputList hashed;  // [batch], one per category
  Output clicked;
  std::function<Batch(int64_t)> batch;
};

ClickInputs MakeInputs(Graph& g) {
  ClickInputs in;
  const Output numbers = Placeholder(g, DT_FLOAT, {kTableBatch, kNumbers}, "numbers");
  const Output categories = Placeholder(g, DT_STRING, {kTableBatch, kCategories}, "categories");
  in.clicked = Placeholder(g, DT_FLOAT, {kTableBatch}, "clicked");
  in.numbers = Log1p(numbers);
  in.hashed = Unstack(StringToHashBucketFast(categories, kBuckets), 1);
  in.batch = [numbers, categories, clicked = in.clicked](int64_t step) -> Batch {
    const ClickBatch made = Clicks(step, kTableBatch);
    return {{numbers, made.numbers}, {categories, made.categories}, {clicked, made.clicked}};
  };
  return in;
}

// The embeddings of the batch: one table and one result per category.
OutputList Vectors(Graph& g, const ClickInputs& in, Seeds& seeds) {
  OutputList vectors;
  for (size_t c = 0; c < in.hashed.size(); ++c) {
    Variable table(g, StrCat("table_", c), {kBuckets, kTableSize}, seeds.Normal(0.2));
    vectors.push_back(Gather(table, in.hashed[c]));
  }
  return vectors;
}

// The sum of one weight per category.
Output Linear(Graph& g, const ClickInputs& in) {
  OutputList weights;
  for (size_t c = 0; c < in.hashed.size(); ++c) {
    Variable table(g, StrCat("weight_", c), {kBuckets}, Zeros());
    weights.push_back(Gather(table, in.hashed[c]));
  }
  return AddN(weights);
}

Output Network(Output net, Seeds& seeds) {
  for (const int64_t units : {32, 16}) {
    net = layers::Dense(units, {.activation = Relu, .kernel_initializer = seeds.Glorot()})(net);
  }
  return Reshape(layers::Dense(1, {.kernel_initializer = seeds.Glorot()})(net), {-1});
}

Output LogLoss(const ClickInputs& in, Output logits) {
  return ReduceMean(losses::SigmoidCrossEntropyWithLogits(in.clicked, logits));
}

}  // namespace

// Wide and deep model (Cheng et al. 2016): FTRL for the wide part, Adagrad for the deep one.
absl::StatusOr<Model> WideAndDeep(Graph& g) {
  Seeds seeds;
  const ClickInputs in = MakeInputs(g);
  Output wide, deep;
  {
    NameScope scope(g, "wide");
    Variable bias(g, "bias_weights", {1}, Zeros());
    wide = Linear(g, in) + bias;
  }
  {
    NameScope scope(g, "deep");
    OutputList parts = Vectors(g, in, seeds);
    parts.insert(parts.begin(), in.numbers);
    deep = Network(Concat(parts, 1), seeds);
  }
  const Output loss = LogLoss(in, wide + deep);
  std::vector<Variable> wide_variables, deep_variables;
  for (const Variable& v : TrainableVariables(g)) {
    (v.name().starts_with("wide/") ? wide_variables : deep_variables).push_back(v);
  }
  const Operation wide_train = Ftrl({.learning_rate = 0.1f, .l1_regularization_strength = 0.001f})
                                   .Minimize(loss, {.var_list = wide_variables});
  const Operation deep_train =
      Adagrad({.learning_rate = 0.05f}).Minimize(loss, {.var_list = deep_variables});
  const Operation train = Group(g, {wide_train, deep_train}, "train");
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, in.batch};
}

// DeepFM (Guo et al. 2017): the dot products of all pairs of vectors, and a network over the
// vectors.
absl::StatusOr<Model> DeepFm(Graph& g) {
  Seeds seeds;
  const ClickInputs in = MakeInputs(g);
  const Output first = Linear(g, in);
  const Output vectors = Stack(Vectors(g, in, seeds), 1);
  // sum of dot products of pairs = ((sum of vectors)² - sum of squares) / 2
  const Output all = Square(ReduceSum(vectors, 1));
  const Output pairs = 0.5f * ReduceSum(all - ReduceSum(Square(vectors), 1), 1);
  const Output flat = Reshape(vectors, {-1, kCategories * kTableSize});
  const Output deep = Network(Concat({in.numbers, flat}, 1), seeds);
  const Output linear =
      Reshape(layers::Dense(1, {.kernel_initializer = seeds.Glorot()})(in.numbers), {-1});
  const Output loss = LogLoss(in, first + linear + pairs + deep);
  const Operation train = Adam({.learning_rate = 0.003f}).Minimize(loss);
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, in.batch};
}

}  // namespace sluice::demos
