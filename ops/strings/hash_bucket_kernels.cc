// Strings and numbers into buckets by their hash.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/hash.h"
#include "ops/strings/map_strings.h"

namespace sluice {
namespace {

absl::Status StringToHashBucket(KernelContext& c) {
  const auto buckets = static_cast<uint64_t>(c.node().AttrOr<int64_t>("num_buckets", 1));
  return MapStrings<int64_t>(
      c, [&](const std::string& s) { return static_cast<int64_t>(Hash64(s) % buckets); });
}
KERNEL(StringToHashBucket, FunctionKernel<StringToHashBucket>);

absl::Status StringToHashBucketFast(KernelContext& c) {
  const auto buckets = static_cast<uint64_t>(c.node().AttrOr<int64_t>("num_buckets", 1));
  return MapStrings<int64_t>(
      c, [&](const std::string& s) { return static_cast<int64_t>(Fingerprint64(s) % buckets); });
}
KERNEL(StringToHashBucketFast, FunctionKernel<StringToHashBucketFast>);

class StringToHashBucketStrongKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto key = init.attr<std::vector<int64_t>>("key");
    if (key.size() != 2) return InvalidArgument("Key must have 2 elements");
    return std::unique_ptr<Kernel>(
        new StringToHashBucketStrongKernel(key, init.attr<int64_t>("num_buckets")));
  }
  absl::Status Compute(KernelContext& c) override {
    return MapStrings<int64_t>(c, [this](const std::string& s) {
      return static_cast<int64_t>(KeyedHash64(key0_, key1_, s) % buckets_);
    });
  }

 private:
  StringToHashBucketStrongKernel(const std::vector<int64_t>& key, int64_t buckets)
      : key0_(static_cast<uint64_t>(key[0])),
        key1_(static_cast<uint64_t>(key[1])),
        buckets_(static_cast<uint64_t>(buckets)) {}
  const uint64_t key0_, key1_, buckets_;
};
KERNEL(StringToHashBucketStrong, StringToHashBucketStrongKernel);

template <typename T>
absl::Status TensorToHashBucketFast(KernelContext& c) {
  const auto buckets = static_cast<uint64_t>(c.node().AttrOr<int64_t>("num_buckets", 1));
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, c.input(0).shape(), &out));
  const auto numbers = c.input(0).flat<T>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    out->data<int64_t>()[i] =
        static_cast<int64_t>(Fingerprint64(std::to_string(numbers[i])) % buckets);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(_TensorToHashBucketFast, "T", TensorToHashBucketFast, IntList);

}  // namespace
}  // namespace sluice
