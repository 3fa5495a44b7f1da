#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "distributed/server/server.h"
#include "gmock/gmock.h"
#include "graph/format/meta_graph.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "sluice_c.h"

namespace sluice {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The code and message of an error, which it frees.
struct Failure {
  int code;
  std::string message;
};
Failure Taken(sluice_error* error) {
  Failure failure = {sluice_error_code(error), sluice_error_message(error)};
  sluice_error_free(error);
  return failure;
}

void Check(sluice_error* error) {
  const Failure failure = Taken(error);
  ASSERT_EQ(failure.code, SLUICE_OK) << failure.message;
}

sluice_tensor* Floats(const std::vector<float>& values) {
  const auto size = static_cast<int64_t>(values.size());
  sluice_tensor* tensor = nullptr;
  Check(sluice_tensor_copy(SLUICE_FLOAT, &size, 1, values.data(), values.size() * sizeof(float),
                           &tensor));
  return tensor;
}

std::vector<float> Values(const sluice_tensor* tensor) {
  const auto* data = static_cast<const float*>(sluice_tensor_data(tensor));
  return std::vector<float>(data, data + sluice_tensor_elements(tensor));
}

// loss = mean((w * x - y)^2), with a queue to block on and strings.
std::string Model() {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  const Output y = Placeholder(g, DT_FLOAT, {-1}, "y");
  const Variable w(g, "w", PartialShape::Scalar(), Ones());
  Identity(ReduceMean(Square(x * w - y)), {.name = "loss"});
  Identity(w, {.name = "weight"});
  Identity(x, {.name = "same"});
  Identity(Placeholder(g, DT_STRING, {-1}, "text"), {.name = "same_text"});
  const Queue queue = Queue::Fifo(g, 1, {DT_FLOAT}, {.name = "queue"});
  Identity(queue.Dequeue()[0], {.name = "waits"});
  EXPECT_TRUE(g.status().ok()) << g.status();
  return ExportMetaGraphDef(g)->SerializeAsString();
}

class CApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string model = Model();
    Check(sluice_graph_parse(model.data(), model.size(), &graph_));
  }
  void TearDown() override {
    sluice_graph_free(graph_);
    sluice_session_free(session_);
  }

  void Start(const char* target = nullptr, const sluice_session_options* options = nullptr) {
    Check(sluice_graph_initializer(graph_, &init_));
    Check(sluice_session_new(graph_, target, options, &session_));
    Check(sluice_session_run(session_, nullptr, 0, nullptr, 0, nullptr, &init_, 1, nullptr));
  }
  // Makes `steps` updates from w = 1 towards y = 3 x, and returns w.
  float Train(int steps) {
    sluice_tensor *x = Floats({1, 2}), *y = Floats({3, 6});
    const sluice_feed feeds[] = {{"x", x}, {"y", y}};
    for (int i = 0; i < steps; ++i) {
      Check(sluice_session_run(session_, feeds, 2, nullptr, 0, nullptr, &train_, 1, nullptr));
    }
    sluice_tensor_free(x);
    sluice_tensor_free(y);
    return Fetch("weight")[0];
  }
  std::vector<float> Fetch(const char* name) {
    sluice_tensor* value = nullptr;
    Check(sluice_session_run(session_, nullptr, 0, &name, 1, &value, nullptr, 0, nullptr));
    if (value == nullptr) return {};
    std::vector<float> values = Values(value);
    sluice_tensor_free(value);
    return values;
  }
  sluice_error* Wait(const sluice_run_options& options) {
    const char* waits = "waits";
    sluice_tensor* value = nullptr;
    return sluice_session_run(session_, nullptr, 0, &waits, 1, &value, nullptr, 0, &options);
  }

  sluice_graph* graph_ = nullptr;
  sluice_session* session_ = nullptr;
  const char* init_ = nullptr;
  const char* train_ = nullptr;
};

TEST_F(CApiTest, FedMemoryIsFetchedWithoutACopyAndReleasedOnce) {
  Start();
  alignas(64) float memory[3] = {1, 2, 3};
  std::atomic<int> released = 0;
  const int64_t dims[] = {3};
  sluice_tensor* x = nullptr;
  Check(sluice_tensor_wrap(
      SLUICE_FLOAT, dims, 1, memory, sizeof memory,
      [](void*, void* context) { ++*static_cast<std::atomic<int>*>(context); }, &released, &x));
  const sluice_feed feed = {"x:0", x};
  const char* same = "same";
  sluice_tensor* fetched = nullptr;
  Check(sluice_session_run(session_, &feed, 1, &same, 1, &fetched, nullptr, 0, nullptr));
  EXPECT_EQ(sluice_tensor_data(fetched), memory);
  sluice_tensor_free(x);
  EXPECT_EQ(released, 0);
  sluice_tensor_free(fetched);
  EXPECT_EQ(released, 1);
}

TEST_F(CApiTest, TrainsSavesAndRestores) {
  const sluice_hyper_parameter parameters[] = {{"learning_rate", 0.05}, {"momentum", 0.5}};
  Check(sluice_graph_minimize(graph_, "loss", "Momentum", parameters, 2, &train_));
  Start();
  const float trained = Train(100);
  EXPECT_NEAR(trained, 3, 1e-3);
  const std::string prefix = ::testing::TempDir() + "/c_api_model";
  Check(sluice_session_save(session_, prefix.c_str(), 7));
  Check(sluice_session_run(session_, nullptr, 0, nullptr, 0, nullptr, &init_, 1, nullptr));
  EXPECT_EQ(Fetch("weight")[0], 1);
  Check(sluice_session_restore(session_, (prefix + "-7").c_str()));
  EXPECT_EQ(Fetch("weight")[0], trained);
  Check(sluice_session_restore(session_, ::testing::TempDir().c_str()));
  EXPECT_EQ(Fetch("weight")[0], trained);
  EXPECT_EQ(Taken(sluice_session_restore(session_, "/nowhere/m")).code, SLUICE_INVALID_ARGUMENT);
  EXPECT_EQ(Taken(sluice_session_restore(session_, nullptr)).code, SLUICE_FAILED_PRECONDITION);
}

TEST_F(CApiTest, EveryOptimizerTrains) {
  for (const char* name : {"AMSGrad", "AdaMax", "Adadelta", "Adagrad", "Adam", "AdamW", "AddSign",
                           "Ftrl", "GradientDescent", "Lamb", "Momentum", "PowerSign",
                           "ProximalAdagrad", "ProximalGradientDescent", "RMSProp"}) {
    SCOPED_TRACE(name);
    TearDown();
    session_ = nullptr;
    SetUp();
    const sluice_hyper_parameter rate = {"learning_rate", 0.05};
    Check(sluice_graph_minimize(graph_, "loss", name, &rate, 1, &train_));
    Start();
    EXPECT_GT(Train(3), 1);
  }
}

TEST_F(CApiTest, UnknownNamesAreErrorsThatListTheKnownOnes) {
  const sluice_hyper_parameter unknown = {"rate", 0.1};
  Failure failure = Taken(sluice_graph_minimize(graph_, "loss", "SGD", nullptr, 0, &train_));
  EXPECT_EQ(failure.code, SLUICE_NOT_FOUND);
  EXPECT_THAT(failure.message, AllOf(HasSubstr("'SGD'"), HasSubstr("GradientDescent")));
  failure = Taken(sluice_graph_minimize(graph_, "loss", "Adam", &unknown, 1, &train_));
  EXPECT_EQ(failure.code, SLUICE_NOT_FOUND);
  EXPECT_THAT(failure.message, AllOf(HasSubstr("'rate'"), HasSubstr("learning_rate, beta1")));
  failure = Taken(sluice_graph_minimize(graph_, "cost", "Adam", nullptr, 0, &train_));
  EXPECT_EQ(failure.code, SLUICE_NOT_FOUND);
  EXPECT_THAT(failure.message, HasSubstr("cost"));
  Check(sluice_graph_minimize(graph_, "loss", "Adam", nullptr, 0, &train_));
  EXPECT_EQ(Taken(sluice_graph_load("/nowhere.pb", &graph_)).code, SLUICE_NOT_FOUND);
  EXPECT_EQ(Taken(sluice_graph_parse("\xff", 1, &graph_)).code, SLUICE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, TensorsThatDoNotFitAreRejected) {
  alignas(8) float data[4] = {};
  const int64_t dims[] = {4}, negative[] = {-4};
  sluice_tensor* tensor = nullptr;
  auto wrap = [&](int type, const int64_t* d, void* memory, size_t bytes) {
    return Taken(sluice_tensor_wrap(type, d, 1, memory, bytes, nullptr, nullptr, &tensor));
  };
  EXPECT_THAT(wrap(SLUICE_FLOAT, dims, data, 12).message,
              HasSubstr("expected 16 bytes for float[4], got 12"));
  EXPECT_EQ(wrap(SLUICE_FLOAT, negative, data, 16).code, SLUICE_INVALID_ARGUMENT);
  EXPECT_EQ(wrap(SLUICE_STRING, dims, data, 0).code, SLUICE_INVALID_ARGUMENT);
  EXPECT_EQ(wrap(1234, dims, data, 16).code, SLUICE_INVALID_ARGUMENT);
  EXPECT_THAT(wrap(SLUICE_FLOAT, dims, reinterpret_cast<char*>(data) + 1, 16).message,
              HasSubstr("not aligned"));
  EXPECT_EQ(tensor, nullptr);
}

TEST_F(CApiTest, StringsAreFedAndFetched) {
  Start();
  const int64_t dims[] = {2};
  const char* values[] = {"a", "b\0c"};
  const size_t sizes[] = {1, 3};
  sluice_tensor* text = nullptr;
  Check(sluice_tensor_strings(dims, 1, values, sizes, &text));
  const sluice_feed feed = {"text", text};
  const char* same = "same_text";
  sluice_tensor* fetched = nullptr;
  Check(sluice_session_run(session_, &feed, 1, &same, 1, &fetched, nullptr, 0, nullptr));
  EXPECT_EQ(sluice_tensor_type(fetched), SLUICE_STRING);
  EXPECT_EQ(sluice_tensor_rank(fetched), 1);
  EXPECT_EQ(sluice_tensor_dim(fetched, 0), 2);
  EXPECT_EQ(sluice_tensor_dim(fetched, 1), -1);
  size_t size = 0;
  const char* second = sluice_tensor_string(fetched, 1, &size);
  EXPECT_EQ(std::string(second, size), std::string("b\0c", 3));
  EXPECT_EQ(sluice_tensor_string(fetched, 2, &size), nullptr);
  EXPECT_EQ(sluice_tensor_data(fetched), nullptr);
  sluice_tensor_free(text);
  sluice_tensor_free(fetched);
}

TEST_F(CApiTest, AWaitingStepIsCancelled) {
  Start();
  sluice_cancellation* cancellation = sluice_cancellation_new();
  const sluice_run_options options = {.size = sizeof(options), .cancellation = cancellation};
  std::thread canceller([&] { sluice_cancellation_cancel(cancellation); });
  EXPECT_EQ(Taken(Wait(options)).code, SLUICE_CANCELLED);
  canceller.join();
  EXPECT_EQ(Taken(Wait(options)).code, SLUICE_CANCELLED);
  sluice_cancellation_free(cancellation);
}

TEST_F(CApiTest, AWaitingStepTimesOutAndNamesTheQueue) {
  Start();
  const Failure failure = Taken(Wait({.size = sizeof(sluice_run_options), .timeout_ms = 20}));
  EXPECT_EQ(failure.code, SLUICE_DEADLINE_EXCEEDED);
  EXPECT_THAT(failure.message, HasSubstr("queue"));
}

TEST_F(CApiTest, ACloseEndsSteps) {
  Start();
  std::thread closer([&] { Check(sluice_session_close(session_)); });
  EXPECT_EQ(Taken(Wait({.size = sizeof(sluice_run_options)})).code, SLUICE_CANCELLED);
  closer.join();
}

TEST_F(CApiTest, AnOpWithoutOutputsIsNoLoss) {
  Check(sluice_graph_initializer(graph_, &init_));
  const Failure failure = Taken(sluice_graph_minimize(graph_, init_, "Adam", nullptr, 0, &train_));
  EXPECT_EQ(failure.code, SLUICE_INVALID_ARGUMENT);
  EXPECT_THAT(failure.message, HasSubstr("the loss is not a tensor of a valid graph"));
}

// A program that was compiled with a header whose struct ended after timeout_ms.
TEST_F(CApiTest, FieldsThatAnOlderProgramLacksHaveTheirDefaults) {
  Start();
  sluice_run_options options;
  std::memset(&options, 0xff, sizeof options);
  options.size = offsetof(sluice_run_options, cancellation);
  options.timeout_ms = 20;
  EXPECT_EQ(Taken(Wait(options)).code, SLUICE_DEADLINE_EXCEEDED);
}

TEST_F(CApiTest, OptionsWithoutTheirSizeAreRejected) {
  const sluice_session_options session_options = {.size = 0, .timeout_ms = 20};
  Failure failure = Taken(sluice_session_new(graph_, nullptr, &session_options, &session_));
  EXPECT_EQ(failure.code, SLUICE_INVALID_ARGUMENT);
  EXPECT_THAT(failure.message, HasSubstr("in the field 'size', got 0"));
  EXPECT_EQ(session_, nullptr);
  Start();
  failure = Taken(Wait({.size = 0, .timeout_ms = 20}));
  EXPECT_EQ(failure.code, SLUICE_INVALID_ARGUMENT);
  EXPECT_THAT(failure.message, HasSubstr("sluice_run_options"));
}

TEST_F(CApiTest, AGraphWithLocalVariablesOnlyRuns) {
  Graph g;
  const Variable local(g, "local", Tensor::Scalar(2.0f),
                       {.trainable = false, .collections = {std::string(kLocalVariables)}});
  Identity(local, {.name = "value"});
  const std::string initializer = local.initializer().name();
  const std::string model = ExportMetaGraphDef(g)->SerializeAsString();
  TearDown();
  Check(sluice_graph_parse(model.data(), model.size(), &graph_));
  Check(sluice_session_new(graph_, nullptr, nullptr, &session_));
  const char* init = initializer.c_str();
  Check(sluice_session_run(session_, nullptr, 0, nullptr, 0, nullptr, &init, 1, nullptr));
  const char* name = "value";
  sluice_tensor* value = nullptr;
  Check(sluice_session_run(session_, nullptr, 0, &name, 1, &value, nullptr, 0, nullptr));
  EXPECT_THAT(Values(value), ElementsAre(2));
  sluice_tensor_free(value);
  EXPECT_EQ(Taken(sluice_session_save(session_, "/nowhere/m", 0)).code, SLUICE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, SavesKeepAllCheckpoints) {
  Start();
  const std::string prefix = ::testing::TempDir() + "/c_api_kept";
  for (int step = 0; step < 7; ++step) Check(sluice_session_save(session_, prefix.c_str(), step));
  for (int step = 0; step < 7; ++step) {
    Check(sluice_session_restore(session_, (prefix + "-" + std::to_string(step)).c_str()));
  }
}

TEST_F(CApiTest, ASessionOnAServerTrains) {
  const std::unique_ptr<Server> server = *Server::Start({.port = 0});
  const sluice_hyper_parameter rate = {"learning_rate", 0.1};
  Check(sluice_graph_minimize(graph_, "loss", "GradientDescent", &rate, 1, &train_));
  Start(server->target().c_str());
  EXPECT_NEAR(Train(50), 3, 1e-3);
  sluice_session_free(session_);
  session_ = nullptr;
}

TEST_F(CApiTest, ASavedModelIsServedBySignature) {
  const std::string folder = ::testing::TempDir() + "/c_api_saved";
  {
    Graph g;
    const Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
    const Variable w(g, "w", Tensor::Scalar(2.0f));
    const Output y = Identity(x * w, {.name = "y"});
    Session session(g);
    ASSERT_TRUE(session.Run({InitializeVariables(g)}).ok());
    SavedModelBuilder builder(folder);
    const absl::Status added = builder.AddMetaGraphAndVariables(
        session,
        {.signatures = {{"serving_default", {.inputs = {{"in", x}}, .outputs = {{"out", y}}}}}});
    ASSERT_TRUE(added.ok()) << added;
    ASSERT_TRUE(builder.Save().ok());
  }
  TearDown();
  Check(sluice_graph_load(folder.c_str(), &graph_));
  Check(sluice_session_new(graph_, nullptr, nullptr, &session_));
  Check(sluice_session_restore(session_, nullptr));
  const char *in = nullptr, *out = nullptr;
  Check(sluice_graph_signature_input(graph_, "serving_default", "in", &in));
  Check(sluice_graph_signature_output(graph_, "serving_default", "out", &out));
  EXPECT_THAT(Taken(sluice_graph_signature_output(graph_, "serving_default", "in", &in)).message,
              HasSubstr("it has: out"));
  sluice_tensor *x = Floats({1, 4}), *y = nullptr;
  const sluice_feed feed = {in, x};
  Check(sluice_session_run(session_, &feed, 1, &out, 1, &y, nullptr, 0, nullptr));
  EXPECT_THAT(Values(y), ElementsAre(2, 8));
  sluice_tensor_free(x);
  sluice_tensor_free(y);
  const char* tag = "train";
  const Failure failure = Taken(sluice_graph_load_saved_model(folder.c_str(), &tag, 1, &graph_));
  EXPECT_EQ(failure.code, SLUICE_NOT_FOUND);
}

}  // namespace
}  // namespace sluice
