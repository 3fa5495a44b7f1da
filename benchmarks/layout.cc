// Measures training steps of images with channels first: `bazel run -c opt //benchmarks:layout --
// --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true`. Compares the same graph
// with and without the pass choose_layout, and built with channels last. The model is ResNet-20
// with batch norm and momentum, for 32 images of 32 x 32.
#include <benchmark/benchmark.h>

#include <set>
#include <string>
#include <vector>

#include "sluice.h"

namespace sluice {
namespace {

class ResNet {
 public:
  explicit ResNet(const std::string& format) : format_(format), first_(format == "NCHW") {
    const TensorShape images = first_ ? TensorShape{32, 3, 32, 32} : TensorShape{32, 32, 32, 3};
    x = Placeholder(graph, DT_FLOAT, images, "x");
    Output v = Relu(Norm(Conv(x, 16, 3, 1)));
    for (const int64_t channels : {16, 32, 64}) {
      for (int block = 0; block < 3; ++block) {
        const bool shrinks = channels > 16 && block == 0;
        const Output part = Relu(Norm(Conv(v, channels, 3, shrinks ? 2 : 1)));
        const Output shortcut = shrinks ? Norm(Conv(v, channels, 1, 2)) : v;
        v = Relu(Norm(Conv(part, channels, 3, 1)) + shortcut);
      }
    }
    const Output pooled = first_ ? ReduceMean(v, {2, 3}) : ReduceMean(v, {1, 2});
    const Output logits = MatMul(pooled, Weights({64, 10}));
    labels = Placeholder(graph, DT_INT32, {32}, "labels");
    const Output loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss, {0});
    train = Momentum({.learning_rate = 0.1f, .momentum = 0.9f}).Minimize(loss);
    init = InitializeVariables(graph);
  }

  std::vector<Feed> Feeds() const {
    Tensor images(DT_FLOAT, x.shape().AsShape()), of(DT_INT32, {32});
    for (int64_t i = 0; i < images.num_elements(); ++i) {
      images.data<float>()[i] = static_cast<float>(i * 37 % 1001) / 500.0f - 1.0f;
    }
    for (int i = 0; i < 32; ++i) of.data<int32_t>()[i] = i % 10;
    return {{x, images}, {labels, of}};
  }

  Graph graph;
  Output x, labels;
  Operation train, init;

 private:
  Output Weights(const TensorShape& shape) {
    Tensor t(DT_FLOAT, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      t.data<float>()[i] = static_cast<float>(i * 7919 % 2003) / 10000.0f - 0.1f;
    }
    return Variable(graph, StrCat("w", count_++), t).Read();
  }
  Output Conv(Output v, int64_t channels, int64_t size, int64_t stride) {
    const int64_t in = v.shape().dim(first_ ? 1 : 3);
    const std::vector<int64_t> strides = first_ ? std::vector<int64_t>{1, 1, stride, stride}
                                                : std::vector<int64_t>{1, stride, stride, 1};
    return Conv2D(v, Weights({size, size, in, channels}), strides, "SAME",
                  {.data_format = format_});
  }
  Output Norm(Output v) {
    const int64_t c = v.shape().dim(first_ ? 1 : 3);
    const Output none = Constant(graph, Tensor(DT_FLOAT, {0}));
    return FusedBatchNormV3(v, Weights({c}), Weights({c}), none, none, {.data_format = format_}).y;
  }

  const std::string format_;
  const bool first_;
  int count_ = 0;
};

void Train(benchmark::State& state, const std::string& format, std::set<std::string> disabled) {
  ResNet net(format);
  SessionOptions options;
  options.disabled_passes = std::move(disabled);
  Session session(net.graph, options);
  absl::StatusOr<Tensors> out = session.Run({}, OutputList{}, {net.init});
  const std::vector<Feed> feeds = net.Feeds();
  for (int i = 0; i < 3 && out.ok(); ++i) out = session.Run(feeds, OutputList{}, {net.train});
  if (!out.ok()) return state.SkipWithError(out.status().ToString().c_str());
  for (auto _ : state) benchmark::DoNotOptimize(session.Run(feeds, OutputList{}, {net.train}));
}
BENCHMARK_CAPTURE(Train, ChannelsFirst, "NCHW", {})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(Train, ChannelsFirstAsBuilt, "NCHW", {"choose_layout"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(Train, ChannelsLast, "NHWC", {})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
