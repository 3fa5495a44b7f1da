// Kernels of ops that measure how datasets are read.
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"
#include "ops/summary/stats_aggregator.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;
using Clock = std::chrono::steady_clock;

// The bytes of a tensor as TensorFlow counts them.
double BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != DT_STRING) return static_cast<double>(tensor.bytes());
  constexpr double kBytesPerString = 24;
  const auto strings = tensor.flat<std::string>();
  return std::accumulate(strings.begin(), strings.end(), 0.0, [](double sum, const auto& text) {
    return sum + kBytesPerString + static_cast<double>(text.size());
  });
}

// What an iterator measures of an element, or nullopt. `read` is the result of Next, which took
// `time` and is not the end.
using Measure = std::optional<double> (*)(const absl::Status& read, const Tensors& element,
                                          Clock::duration time);

std::optional<double> Bytes(const absl::Status& read, const Tensors& element, Clock::duration) {
  if (!read.ok()) return std::nullopt;
  double bytes = 0;
  for (const Tensor& tensor : element) bytes += BytesOf(tensor);
  return bytes;
}

std::optional<double> Latency(const absl::Status&, const Tensors&, Clock::duration time) {
  return static_cast<double>(std::chrono::floor<std::chrono::microseconds>(time).count());
}

// Reads from `inner`, and adds what kMeasure returns to the measurements of the reading.
template <Measure kMeasure>
class MeasuringIterator final : public DatasetIterator {
 public:
  MeasuringIterator(IteratorPointer inner, std::string tag, std::shared_ptr<MeasurementSink> sink)
      : inner_(std::move(inner)), tag_(std::move(tag)), sink_(std::move(sink)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    const Clock::time_point start = Clock::now();
    absl::StatusOr<bool> read = inner_->Next(element);
    if (read.ok() && !*read) return false;
    const auto value = kMeasure(read.status(), *element, Clock::now() - start);
    if (value) SLUICE_RETURN_IF_ERROR(sink_->Add(tag_, *value, step_));
    if (read.ok()) ++step_;
    return read;
  }

 private:
  const IteratorPointer inner_;
  const std::string tag_;
  const std::shared_ptr<MeasurementSink> sink_;
  int64_t step_ = 0;  // the number of elements that were read
};

template <Measure kMeasure>
MadeDataset MeasuredDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto tag, ScalarInput<std::string>(c, "tag"));
  const auto start = [tag](IteratorPointer inner, Reading& reading) -> IteratorPointer {
    if (reading.measurements == nullptr) return inner;
    return std::make_unique<MeasuringIterator<kMeasure>>(std::move(inner), tag,
                                                         reading.measurements);
  };
  return MakeDatasetOver(input, input->facts(), start, SameElementOf(input));
}

// Adds measurements to an aggregator under names that begin with a tag.
class TaggedSink final : public MeasurementSink {
 public:
  TaggedSink(std::shared_ptr<StatsAggregator> aggregator, const std::string& tag)
      : aggregator_(std::move(aggregator)), prefix_(tag.empty() ? "" : StrCat(tag, "::")) {}
  absl::Status Add(const std::string& name, double value, int64_t step) override {
    return aggregator_->Add(StrCat(prefix_, name), value, step);
  }

 private:
  const std::shared_ptr<StatsAggregator> aggregator_;
  const std::string prefix_;
};

// Reads a dataset in a part of the reading that has its own measurements.
class PartIterator final : public DatasetIterator {
 public:
  static absl::StatusOr<IteratorPointer> Make(const Dataset& dataset, Reading& whole,
                                              std::shared_ptr<MeasurementSink> sink) {
    auto iterator = std::make_unique<PartIterator>(whole, std::move(sink));
    SLUICE_ASSIGN_OR_RETURN(iterator->inner_, dataset.Iterate(iterator->part_));
    return IteratorPointer(std::move(iterator));
  }
  PartIterator(Reading& whole, std::shared_ptr<MeasurementSink> sink) : part_(whole) {
    part_.reads_ahead = whole.reads_ahead;  // it is read on the same thread
    part_.measurements = std::move(sink);
  }
  absl::StatusOr<bool> Next(Tensors* element) override { return inner_->Next(element); }

 private:
  Reading part_;  // outlives inner_
  IteratorPointer inner_;
};

MadeDataset SetStatsAggregatorDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const auto aggregator, LookupNamed<StatsAggregator>(c, 1));
  SLUICE_ASSIGN_OR_RETURN(const auto tag, ScalarInput<std::string>(c, "tag"));
  SLUICE_RETURN_IF_ERROR(ScalarInput<std::string>(c, "counter_prefix").status());
  const auto iterate = [=](Reading& reading) {
    return PartIterator::Make(*input, reading, std::make_shared<TaggedSink>(aggregator, tag));
  };
  return MakeDataset(input->facts(), iterate, SameElementOf(input));
}

template <StatsAggregator::Target kTarget>
struct AggregatorKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<StatsAggregator>(
        init, [](const ResourceName&) { return std::make_shared<StatsAggregator>(kTarget); });
  }
};
using SummaryAggregatorKernel = AggregatorKernel<StatsAggregator::Target::kSummary>;

absl::Status StatsAggregatorSetSummaryWriter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto aggregator, LookupNamed<StatsAggregator>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(auto writer, LookupNamed<SummaryWriterResource>(c, 1));
  aggregator->SetWriter(std::move(writer));
  return absl::OkStatus();
}

absl::Status StatsAggregatorSummary(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto aggregator, LookupNamed<StatsAggregator>(c, 0));
  return SetScalarOutput(c, aggregator->Summary());
}

KERNEL(BytesProducedStatsDataset, DatasetKernel<MeasuredDataset<Bytes>>);
KERNEL(ExperimentalBytesProducedStatsDataset, DatasetKernel<MeasuredDataset<Bytes>>);
KERNEL(ExperimentalLatencyStatsDataset, DatasetKernel<MeasuredDataset<Latency>>);
KERNEL(ExperimentalSetStatsAggregatorDataset, DatasetKernel<SetStatsAggregatorDataset>);
KERNEL(ExperimentalStatsAggregatorHandle, SummaryAggregatorKernel);
KERNEL(ExperimentalStatsAggregatorSummary, FunctionKernel<StatsAggregatorSummary>);
KERNEL(LatencyStatsDataset, DatasetKernel<MeasuredDataset<Latency>>);
KERNEL(SetStatsAggregatorDataset, DatasetKernel<SetStatsAggregatorDataset>);
KERNEL(StatsAggregatorHandle, SummaryAggregatorKernel);
KERNEL(StatsAggregatorHandleV2, AggregatorKernel<StatsAggregator::Target::kWriter>);
KERNEL(StatsAggregatorSetSummaryWriter, FunctionKernel<StatsAggregatorSetSummaryWriter>);
KERNEL(StatsAggregatorSummary, FunctionKernel<StatsAggregatorSummary>);

}  // namespace
}  // namespace sluice
