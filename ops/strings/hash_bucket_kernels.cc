// Kernels that hash strings and numbers to buckets.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/hash.h"
#include "ops/strings/map_elements.h"

namespace sluice {
namespace {

template <uint64_t (*kHash)(std::string_view)>
absl::Status HashToBuckets(KernelContext& c) {
  const auto buckets = static_cast<uint64_t>(c.node().AttrOr<int64_t>("num_buckets", 1));
  return MapElements<int64_t>(
      c, [&](const std::string& s) { return static_cast<int64_t>(kHash(s) % buckets); });
}
KERNEL(StringToHashBucket, FunctionKernel<HashToBuckets<Hash64>>);
KERNEL(StringToHashBucketFast, FunctionKernel<HashToBuckets<Fingerprint64>>);

absl::StatusOr<std::vector<int64_t>> HashKeyOf(KernelInit& init) {
  const auto& key = init.attr<std::vector<int64_t>>("key");
  SLUICE_INVALID_IF(key.size() != 2, "Key must have 2 elements");
  return key;
}

absl::Status StringToHashBucketStrong(KernelContext& c, const Prepared<HashKeyOf>& key,
                                      Attr<int64_t, "num_buckets"> num_buckets) {
  const auto key0 = static_cast<uint64_t>((*key)[0]), key1 = static_cast<uint64_t>((*key)[1]);
  const auto buckets = static_cast<uint64_t>(num_buckets.value);
  return MapElements<int64_t>(c, [=](const std::string& s) {
    return static_cast<int64_t>(KeyedHash64(key0, key1, s) % buckets);
  });
}
KERNEL(StringToHashBucketStrong, FunctionKernel<StringToHashBucketStrong>);

template <typename T>
absl::Status TensorToHashBucketFast(KernelContext& c) {
  const auto buckets = static_cast<uint64_t>(c.node().AttrOr<int64_t>("num_buckets", 1));
  return MapElements<int64_t, T>(c, [&](T number) {
    return static_cast<int64_t>(Fingerprint64(std::to_string(number)) % buckets);
  });
}
FUNCTION_KERNELS(_TensorToHashBucketFast, "T", TensorToHashBucketFast, IntList);

}  // namespace
}  // namespace sluice
