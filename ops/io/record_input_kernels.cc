// The kernel of RecordInput.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/io/record_mixer.h"

namespace sluice {
namespace {

class RecordInputKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    RecordMixerOptions options{
        .file_pattern = init.attr<std::string>("file_pattern"),
        .seed = static_cast<uint64_t>(init.attr<int64_t>("file_random_seed")),
        .shift = init.attr<float>("file_shuffle_shift_ratio"),
        .buffer_size = std::max<int64_t>(1, init.attr<int64_t>("file_buffer_size")),
        .files_at_a_time = std::max<int64_t>(1, init.attr<int64_t>("file_parallelism"))};
    SLUICE_ASSIGN_OR_RETURN(options.compression,
                            CompressionFromName(init.attr<std::string>("compression_type")));
    const auto batch_size = init.attr<int64_t>("batch_size");
    SLUICE_INVALID_IF(batch_size < 0, "batch_size must be >= 0, got ", batch_size);
    return std::unique_ptr<Kernel>(new RecordInputKernel(std::move(options), batch_size));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {batch_size_}));
    ScopedLock lock(&mutex_);
    for (std::string& record : out->flat<std::string>()) {
      SLUICE_ASSIGN_OR_RETURN(record, mixer_.Next());
    }
    return absl::OkStatus();
  }

 private:
  RecordInputKernel(RecordMixerOptions options, int64_t batch_size)
      : batch_size_(batch_size), mixer_(std::move(options)) {}
  const int64_t batch_size_;
  Mutex mutex_;
  RecordMixer mixer_ ABSL_GUARDED_BY(mutex_);
};

KERNEL(RecordInput, RecordInputKernel);

}  // namespace
}  // namespace sluice
