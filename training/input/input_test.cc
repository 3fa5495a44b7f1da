#include "training/input/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>

#include "executor/session/session.h"
#include "graph/status.h"
#include "ops/builders/constant.h"
#include "ops/io/builders.h"
#include "ops/io/record_file.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/input/idx.h"
#include "training/loop/coordinator.h"
#include "training/loop/queue_runner.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Describes each node on a line "name Op input input ^control".
std::string Lines(const Graph& g) {
  std::string text;
  for (const Node* node : g.nodes()) {
    StrAppend(&text, node->name(), " ", node->op());
    for (const Output& input : node->inputs()) {
      StrAppend(&text, " ", input.node->name());
      if (input.index > 0) StrAppend(&text, ":", input.index);
    }
    for (const Node* control : node->control_inputs()) StrAppend(&text, " ^", control->name());
    StrAppend(&text, "\n");
  }
  return text;
}

// Runs the queue runners of a graph during its lifetime.
class Pipeline {
 public:
  explicit Pipeline(Graph& g) : session_(g) {
    const Operation init = InitializeLocalVariables(g);
    EXPECT_TRUE(g.status().ok()) << g.status();
    EXPECT_TRUE(session_.Run({init}).ok());
    EXPECT_TRUE(StartQueueRunners(session_, coordinator_).ok());
  }
  ~Pipeline() {
    coordinator_.RequestStop();
    coordinator_.Join().IgnoreError();
  }
  absl::StatusOr<Tensors> Run(const OutputList& fetches) {
    return session_.Run(absl::Span<const Feed>(), fetches);
  }

 private:
  Session session_;
  Coordinator coordinator_;
};

template <typename T>
std::vector<T> Values(const Tensor& t) {
  return {t.flat<T>().begin(), t.flat<T>().end()};
}

// The nodes must be those that tf.compat.v1.train of TensorFlow 2.21 creates for the same calls.
TEST(InputTest, StringInputProducerMakesTensorFlowsNodes) {
  Graph g;
  input::StringInputProducer(g, {"a", "b"}, {.num_epochs = 2, .seed = 3, .capacity = 4}).Dequeue();
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(Lines(g), R"(input_producer/Const Const
input_producer/Size Const
input_producer/Greater/y Const
input_producer/Greater Greater input_producer/Size input_producer/Greater/y
input_producer/Assert/Const Const
input_producer/Assert/Assert/data_0 Const
input_producer/Assert/Assert Assert input_producer/Greater input_producer/Assert/Assert/data_0
input_producer/Identity Identity input_producer/Const ^input_producer/Assert/Assert
input_producer/RandomShuffle RandomShuffle input_producer/Identity
input_producer/limit_epochs/Const Const
input_producer/limit_epochs/epochs VariableV2
input_producer/limit_epochs/epochs/Assign Assign input_producer/limit_epochs/epochs input_producer/limit_epochs/Const
input_producer/limit_epochs/epochs/read Identity input_producer/limit_epochs/epochs
input_producer/limit_epochs/CountUpTo CountUpTo input_producer/limit_epochs/epochs
input_producer/limit_epochs Identity input_producer/RandomShuffle ^input_producer/limit_epochs/CountUpTo
input_producer FIFOQueueV2
input_producer/input_producer_EnqueueMany QueueEnqueueManyV2 input_producer input_producer/limit_epochs
input_producer/input_producer_Close QueueCloseV2 input_producer
input_producer/input_producer_Close_1 QueueCloseV2 input_producer
input_producer/input_producer_Size QueueSizeV2 input_producer
input_producer/Cast Cast input_producer/input_producer_Size
input_producer/mul/y Const
input_producer/mul Mul input_producer/Cast input_producer/mul/y
input_producer/fraction_of_4_full/tags Const
input_producer/fraction_of_4_full ScalarSummary input_producer/fraction_of_4_full/tags input_producer/mul
input_producer_Dequeue QueueDequeueV2 input_producer
)");
  EXPECT_THAT(g.collections()["local_variables"],
              ElementsAre("input_producer/limit_epochs/epochs:0"));
  EXPECT_THAT(g.collections()["summaries"], ElementsAre("input_producer/fraction_of_4_full:0"));
}

TEST(InputTest, BatchMakesTensorFlowsNodes) {
  Graph g;
  input::Batch({Constant(g, 1.0f), Constant(g, {1, 2})}, 2, {.num_threads = 2, .capacity = 8});
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(Lines(g), R"(Const Const
Const_1 Const
batch/Const Const
batch/fifo_queue FIFOQueueV2
batch/fifo_queue_enqueue QueueEnqueueV2 batch/fifo_queue Const Const_1
batch/fifo_queue_Close QueueCloseV2 batch/fifo_queue
batch/fifo_queue_Close_1 QueueCloseV2 batch/fifo_queue
batch/fifo_queue_Size QueueSizeV2 batch/fifo_queue
batch/Cast Cast batch/fifo_queue_Size
batch/mul/y Const
batch/mul Mul batch/Cast batch/mul/y
batch/fraction_of_8_full/tags Const
batch/fraction_of_8_full ScalarSummary batch/fraction_of_8_full/tags batch/mul
batch/n Const
batch QueueDequeueManyV2 batch/fifo_queue batch/n
)");
  const absl::StatusOr<std::vector<QueueRunner>> runners = QueueRunners(g);
  ASSERT_TRUE(runners.ok());
  EXPECT_EQ((*runners)[0].enqueue_ops.size(), 2u);
}

TEST(InputTest, ShuffleBatchMakesTensorFlowsNodes) {
  Graph g;
  input::ShuffleBatch({Constant(g, 1.0f)}, 2, 9, 3,
                      {.seed = 1, .allow_smaller_final_batch = true, .name = "sb"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(Lines(g), R"(Const Const
sb/Const Const
sb/random_shuffle_queue RandomShuffleQueueV2
sb/random_shuffle_queue_enqueue QueueEnqueueV2 sb/random_shuffle_queue Const
sb/random_shuffle_queue_Close QueueCloseV2 sb/random_shuffle_queue
sb/random_shuffle_queue_Close_1 QueueCloseV2 sb/random_shuffle_queue
sb/random_shuffle_queue_Size QueueSizeV2 sb/random_shuffle_queue
sb/sub/y Const
sb/sub Sub sb/random_shuffle_queue_Size sb/sub/y
sb/Maximum/x Const
sb/Maximum Maximum sb/Maximum/x sb/sub
sb/Cast Cast sb/Maximum
sb/mul/y Const
sb/mul Mul sb/Cast sb/mul/y
sb/fraction_over_3_of_6_full/tags Const
sb/fraction_over_3_of_6_full ScalarSummary sb/fraction_over_3_of_6_full/tags sb/mul
sb/n Const
sb QueueDequeueUpToV2 sb/random_shuffle_queue sb/n
)");
}

TEST(InputTest, SliceInputProducerMakesTensorFlowsNodes) {
  Graph g;
  input::SliceInputProducer({Constant(g, {1.0f, 2.0f}), Constant(g, {1, 2})}, {.shuffle = false});
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::string lines = Lines(g);
  EXPECT_THAT(lines, HasSubstr("input_producer/strided_slice StridedSlice input_producer/Shape "));
  EXPECT_THAT(lines, HasSubstr("input_producer/input_producer/range Range input_producer/"
                               "input_producer/range/start input_producer/strided_slice "
                               "input_producer/input_producer/range/delta\n"));
  EXPECT_THAT(lines, HasSubstr("input_producer/input_producer FIFOQueueV2\n"));
  EXPECT_THAT(lines, HasSubstr("input_producer/GatherV2_1 GatherV2 Const_1 "
                               "input_producer/input_producer_Dequeue "
                               "input_producer/GatherV2_1/axis\n"));
}

TEST(InputTest, EpochsEndTheQueueAndTheLastBatchIsSmaller) {
  Graph g;
  const Queue numbers = input::RangeInputProducer(g, 5, {.num_epochs = 2, .shuffle = false});
  const OutputList batch = input::Batch(numbers.Dequeue(), 4, {.allow_smaller_final_batch = true});
  Pipeline pipeline(g);
  std::vector<std::vector<int32_t>> batches;
  absl::StatusOr<Tensors> out;
  while ((out = pipeline.Run(batch)).ok()) batches.push_back(Values<int32_t>((*out)[0]));
  EXPECT_TRUE(absl::IsOutOfRange(out.status())) << out.status();
  EXPECT_THAT(batches,
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 0, 1, 2), ElementsAre(3, 4)));
}

TEST(InputTest, ShuffledBatchesHoldEveryElementOnce) {
  Graph g;
  const Queue numbers = input::RangeInputProducer(g, 40, {.num_epochs = 1, .seed = 5});
  const OutputList batch = input::ShuffleBatch(numbers.Dequeue(), 8, 30, 10, {.seed = 7});
  Pipeline pipeline(g);
  std::vector<int32_t> all;
  for (int i = 0; i < 5; ++i) {
    const absl::StatusOr<Tensors> out = pipeline.Run(batch);
    ASSERT_TRUE(out.ok()) << out.status();
    const std::vector<int32_t> values = Values<int32_t>((*out)[0]);
    all.insert(all.end(), values.begin(), values.end());
  }
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(all[i], i);
}

TEST(InputTest, ElementsThatAreNotKeptAreLeftOut) {
  Graph g;
  const Queue numbers = input::RangeInputProducer(g, 8, {.num_epochs = 1, .shuffle = false});
  const Output number = numbers.Dequeue()[0];
  const Output odd = BinaryOp("Equal", "Equal", number % 2, 1);
  const OutputList batch = input::MaybeBatch({number}, odd, 4);
  Pipeline pipeline(g);
  const absl::StatusOr<Tensors> out = pipeline.Run(batch);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values<int32_t>((*out)[0]), ElementsAre(1, 3, 5, 7));
}

TEST(InputTest, ShapesThatAreOpenNeedPadding) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  EXPECT_TRUE(input::Batch({x}, 2).empty());
  EXPECT_THAT(std::string(g.status().message()),
              HasSubstr("All shapes must be fully defined: [[?]]"));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("input_test.cc"));
}

TEST(InputTest, MistakesAreTheGraphsError) {
  const auto error = [](auto make) {
    Graph g;
    make(g);
    return std::string(g.status().message());
  };
  EXPECT_THAT(error([](Graph& g) { input::ShuffleBatch({Constant(g, 1.0f)}, 2, 3, 3); }),
              HasSubstr("capacity 3 must be bigger than min_after_dequeue 3."));
  EXPECT_THAT(error([](Graph& g) { input::LimitEpochs(Constant(g, 1.0f), 0); }),
              HasSubstr("num_epochs must be > 0 not 0."));
  EXPECT_THAT(error([](Graph& g) { input::StringInputProducer(g, {}); }),
              HasSubstr("string_input_producer requires a non-null input tensor"));
  EXPECT_THAT(error([](Graph& g) {
                input::BatchJoin({{Constant(g, 1.0f)}, {Constant(g, 1)}}, 2);
              }),
              HasSubstr("expected tensors of type float as component 0, got int32"));
  EXPECT_THAT(error([](Graph& g) { input::Batch({Constant(g, 1.0f)}, 2, {.num_threads = -1}); }),
              HasSubstr("num_threads must be > 0 not -1."));
  EXPECT_THAT(
      error([](Graph& g) { input::MaybeBatch({Constant(g, 1.0f)}, Constant(g, "yes"), 2); }),
      HasSubstr("`keep_input` must be a bool, got string"));
}

TEST(InputTest, RecordsOfFilesInBatches) {
  const std::string path = ::testing::TempDir() + "/input_test.records";
  std::ofstream file(path, std::ios::binary);
  for (const char* record : {"one", "two", "three", "four"}) {
    const RecordFrame frame(record);
    file << frame.header() << record << frame.footer();
  }
  file.close();
  Graph g;
  const Queue files = input::StringInputProducer(g, {path}, {.num_epochs = 1});
  const Output reader = TFRecordReaderV2(g);
  const auto record = ReaderReadV2(reader, files.handle());
  const OutputList batch = input::Batch({record.value}, 2);
  Pipeline pipeline(g);
  std::vector<std::string> seen;
  absl::StatusOr<Tensors> out;
  while ((out = pipeline.Run(batch)).ok()) {
    for (const std::string& s : Values<std::string>((*out)[0])) seen.push_back(s);
  }
  EXPECT_TRUE(absl::IsOutOfRange(out.status())) << out.status();
  EXPECT_THAT(seen, ElementsAre("one", "two", "three", "four"));
}

TEST(IdxTest, RowsOfPlainAndGzippedFiles) {
  const std::string bytes("\0\0\x0b\x02\0\0\0\x02\0\0\0\x03\0\1\0\2\0\3\xff\xff\0\5\1\0", 24);
  const std::string plain = ::testing::TempDir() + "/input_test.idx";
  std::ofstream(plain, std::ios::binary) << bytes;
  const std::string packed = plain + ".gz";
  const gzFile gz = gzopen(packed.c_str(), "wb");
  gzwrite(gz, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(gz);
  for (const std::string& path : {plain, packed}) {
    const absl::StatusOr<input::IdxFile> idx = input::IdxFile::Open(path);
    ASSERT_TRUE(idx.ok()) << idx.status();
    EXPECT_EQ(idx->dtype, DT_INT16);
    EXPECT_THAT(idx->dims, ElementsAre(2, 3));
    Graph g;
    const Output row = idx->Read(g, {.num_epochs = 1});
    EXPECT_EQ(row.shape(), PartialShape({3}));
    Pipeline pipeline(g);
    EXPECT_THAT(Values<int16_t>((*pipeline.Run({row}))[0]), ElementsAre(1, 2, 3));
    EXPECT_THAT(Values<int16_t>((*pipeline.Run({row}))[0]), ElementsAre(-1, 5, 256));
    EXPECT_TRUE(absl::IsOutOfRange(pipeline.Run({row}).status()));
  }
}

TEST(IdxTest, WhatIsNoIdxFileIsRefused) {
  const std::string path = ::testing::TempDir() + "/input_test.txt";
  std::ofstream(path) << "hello, this is text";
  EXPECT_THAT(std::string(input::IdxFile::Open(path).status().message()),
              HasSubstr("expected an IDX file"));
  EXPECT_TRUE(absl::IsNotFound(input::IdxFile::Open(path + ".missing").status()));
  const std::string huge = std::string("\0\0\x08\x04\0\0\0\0", 8) + std::string(12, '\xff');
  std::ofstream(path, std::ios::binary) << huge;
  EXPECT_THAT(std::string(input::IdxFile::Open(path).status().message()),
              HasSubstr("expected an IDX file"));
}

}  // namespace
}  // namespace sluice
