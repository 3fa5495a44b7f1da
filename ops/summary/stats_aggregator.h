// The resource behind StatsAggregatorHandle and StatsAggregatorHandleV2: histograms of the
// measurements of datasets.
//
// Thread safety: all methods may be called from any thread.
// Errors: errors of the file that the events are written to.
#ifndef SLUICE_OPS_SUMMARY_STATS_AGGREGATOR_H_
#define SLUICE_OPS_SUMMARY_STATS_AGGREGATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "ops/data/dataset.h"
#include "ops/summary/histogram.h"
#include "ops/summary/summary_writer.h"

namespace sluice {

class StatsAggregator final : public Resource, public MeasurementSink {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data23StatsAggregatorResourceE";

  // The destination of the histograms: the string that Summary returns, or a summary writer.
  enum class Target { kSummary, kWriter };

  explicit StatsAggregator(Target target) : target_(target) {}
  std::string DebugString() const override { return "StatsAggregatorResource"; }

  // Adds `value` to the histogram `name`. Writes an event with the histogram if there is a writer.
  absl::Status Add(const std::string& name, double value, int64_t step) override;
  // Has no effect if the target is kSummary.
  void SetWriter(std::shared_ptr<SummaryWriterResource> writer);
  // A serialised Summary of all histograms, in the order of their names. Empty if the target is
  // kWriter.
  std::string Summary();

 private:
  const Target target_;
  Mutex mutex_;
  std::map<std::string, Histogram> histograms_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SummaryWriterResource> writer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_STATS_AGGREGATOR_H_
