#include "ops/summary/stats_aggregator.h"

#include <utility>

#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/summary.pb.h"

namespace sluice {

absl::Status StatsAggregator::Add(const std::string& name, double value, int64_t step) {
  pb::Event event;
  std::shared_ptr<SummaryWriterResource> writer;
  {
    ScopedLock lock(&mutex_);
    Histogram& histogram = histograms_[name];
    histogram.Add(value);
    if (writer_ == nullptr) return absl::OkStatus();
    writer = writer_;
    pb::Summary::Value* written = event.mutable_summary()->add_value();
    written->set_tag(name);
    histogram.ToProto(written->mutable_histo());
  }
  event.set_step(step);
  return writer->Write(std::move(event));
}

void StatsAggregator::SetWriter(std::shared_ptr<SummaryWriterResource> writer) {
  if (target_ != Target::kWriter) return;
  ScopedLock lock(&mutex_);
  writer_ = std::move(writer);
}

std::string StatsAggregator::Summary() {
  pb::Summary summary;
  if (target_ == Target::kSummary) {
    ScopedLock lock(&mutex_);
    for (const auto& [name, histogram] : histograms_) {
      pb::Summary::Value* value = summary.add_value();
      value->set_tag(name);
      histogram.ToProto(value->mutable_histo());
    }
  }
  return summary.SerializeAsString();
}

}  // namespace sluice
