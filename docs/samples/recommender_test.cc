// The code in docs/recommender.md.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "graph/format/proto/example.pb.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int64_t kCategories = 3;

// A log in which users of even numbers click on shoes, and the others on what is cheap.
std::string WriteLog() {
  const std::string path = ::testing::TempDir() + "/clicks.csv";
  const char* const categories[] = {"shoes", "books", "tools", "novelty"};
  std::ofstream log(path);
  uint64_t random = 1;
  const auto below = [&random](uint64_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % n;
  };
  for (int i = 0; i < 8000; ++i) {
    const uint64_t user = below(50), item = below(200), price = 5 + below(90);
    const bool clicked = user % 2 == 0 ? item % 4 == 0 : price < 30;
    log << (clicked ? 1 : 0) << ",u" << user << ",i" << item << "," << categories[item % 4] << ","
        << price << "\n";
  }
  return path;
}

std::string WriteVocabulary() {
  const std::string path = ::testing::TempDir() + "/categories.txt";
  std::ofstream(path) << "shoes\nbooks\ntools\n";
  return path;
}

// [features]
// A batch of lines of the log. All have the shape [batch].
struct Clicks {
  Output clicked;   // float: 1 or 0
  Output user;      // int64: hashed
  Output item;      // int64: hashed
  Output category;  // int64: line of the vocabulary, or kCategories
  Output price;     // float
};

Clicks ReadClicks(Graph& g, const std::string& log, const std::string& vocabulary) {
  Queue files = input::StringInputProducer(g, {log}, {.num_epochs = 5});
  Output line = ReaderReadV2(TextLineReaderV2(g), files.handle()).value;
  Output lines =
      input::ShuffleBatch({line}, 64, 4000, 2000, {.allow_smaller_final_batch = true})[0];
  const Output word = Constant(g, {""}), number = Constant(g, {0.0f});  // of empty columns
  OutputList columns = DecodeCSV(lines, {number, word, word, word, number});

  Output table = HashTableV2(g, DT_STRING, DT_INT64);
  constexpr int64_t kWholeLine = -2, kLineNumber = -1;
  Operation fill =
      InitializeTableFromTextFileV2(table, Constant(g, vocabulary), kWholeLine, kLineNumber);
  g.AddToCollection(kTableInitializers, fill.name());  // a training session runs these
  return {.clicked = columns[0],
          .user = StringToHashBucketFast(columns[1], 10'000),
          .item = StringToHashBucketFast(columns[2], 10'000),
          .category = LookupTableFindV2(table, columns[3], Constant(g, kCategories)),
          .price = columns[4]};
}
// [/features]

// [model]
// DeepFM: the dot products of all pairs of vectors, and a network over the vectors.
Output Logits(Graph& g, const Clicks& in) {
  constexpr int64_t kSize = 8;
  const Initializer small = RandomNormalInit(0, 0.1);
  PartitionedVariable users(g, "users", {10'000, kSize}, small, {2});
  PartitionedVariable items(g, "items", {10'000, kSize}, small, {2});
  Variable categories(g, "categories", {kCategories + 1, kSize}, small);
  const EmbeddingLookupOptions by_range = {.strategy = PartitionStrategy::kDiv};
  Output vectors =
      Stack({EmbeddingLookup(users, in.user, by_range), EmbeddingLookup(items, in.item, by_range),
             EmbeddingLookup(categories, in.category)},
            1);  // [batch, 3, 8]
  Output pairs = 0.5f * ReduceSum(Square(ReduceSum(vectors, 1)) - ReduceSum(Square(vectors), 1), 1);
  Output net = Concat({layers::Flatten(vectors), ExpandDims(Log1p(in.price), 1)}, 1);
  net = layers::Dense(32, {.activation = Relu})(net);
  return pairs + Reshape(layers::Dense(1)(net), {-1});
}
// [/model]

absl::StatusOr<float> Train(const std::string& log, const std::string& vocabulary,
                            const std::string& folder) {
  // [train]
  Graph g;
  Clicks clicks = ReadClicks(g, log, vocabulary);
  Output logits = Logits(g, clicks);
  Output loss = losses::SigmoidCrossEntropy(clicks.clicked, logits);
  Metric auc = metrics::Auc(clicks.clicked, Sigmoid(logits));
  Variable step = GlobalStep(g);
  Operation train = Adagrad({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
  summary::Scalar("loss", loss);

  auto final_auc = std::make_shared<FinalOpsHook>(OutputList{auc.value});
  MonitoredTrainingSession session(
      g, {.checkpoint_dir = folder, .hooks = {StopOnNan(loss), final_auc}});
  while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train, auc.update}));
  SLUICE_RETURN_IF_ERROR(session.Close());
  return final_auc->final_ops_values()[0].scalar<float>();
  // [/train]
}

TEST(RecommenderSamples, FromALogToACheckpoint) {
  const std::string folder = ::testing::TempDir() + "/recommender";
  const absl::StatusOr<float> auc = Train(WriteLog(), WriteVocabulary(), folder);
  ASSERT_TRUE(auc.ok()) << auc.status();
  EXPECT_GT(*auc, 0.85f);
  const absl::StatusOr<std::string> checkpoint = LatestCheckpoint(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  // [read]
  auto reader = CheckpointReader::Open(*checkpoint).value();
  absl::StatusOr<Tensor> users = reader->Read("users");  // one tensor, however it was partitioned
  // [/read]
  ASSERT_TRUE(users.ok()) << users.status();
  EXPECT_EQ(users->shape(), TensorShape({10'000, 8}));
}

std::string SerializedExample(float clicked, const std::vector<std::string>& history) {
  pb::Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  features["clicked"].mutable_float_list()->add_value(clicked);
  for (const std::string& item : history) {
    features["history"].mutable_bytes_list()->add_value(item);
  }
  return example.SerializeAsString();
}

TEST(RecommenderSamples, Examples) {
  Graph g;
  const Tensor records =
      Tensor::Vector<std::string>({SerializedExample(1, {"i1", "i7"}), SerializedExample(0, {})});
  const Output serialized = Constant(g, records);
  Variable items(g, "items", {10'000, 8}, Ones());
  // [examples]
  const auto strings = [&g](const std::vector<std::string>& v) {
    return Constant(g, Tensor::Vector<std::string>(v));
  };
  ParseExampleV2Outputs parsed =
      ParseExampleV2(serialized, strings({}), /*sparse_keys=*/strings({"history"}),
                     /*dense_keys=*/strings({"clicked"}), /*ragged_keys=*/strings({}),
                     /*dense_defaults=*/{Constant(g, {0.0f})}, /*num_sparse=*/1,
                     /*sparse_types=*/{DT_STRING}, {}, {}, /*dense_shapes=*/{{1}});
  Output clicked = Reshape(parsed.dense_values[0], {-1});
  SparseOutput history = {parsed.sparse_indices[0],
                          StringToHashBucketFast(parsed.sparse_values[0], 10'000),
                          parsed.sparse_shapes[0]};
  Output taste = SafeEmbeddingLookupSparse(items, history);  // [batch, 8]: the mean of its items
  // [/examples]
  Session session(g);
  ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
  const absl::StatusOr<Tensors> out = session.Run({}, {clicked, taste}, {});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].SummarizeValues(2), "1 0");
  EXPECT_EQ((*out)[1].data<float>()[0], 1);  // the mean of rows of ones
  EXPECT_EQ((*out)[1].data<float>()[8], 0);  // no history
}

}  // namespace
}  // namespace sluice
