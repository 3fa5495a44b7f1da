// Ops that hash their elements, to buckets or to fingerprints.
#include "ops/op.h"

namespace sluice {
namespace {

void HashesToBuckets(OpDefBuilder& op) {
  op.Output("output", DT_INT64).Attr("num_buckets", IntAttr().Min(1)).Shape(SameAsInput(0));
}

OP(Fingerprint,
   "Computes a fingerprint of eight bytes for each row of data. The only method is farmhash64.")
    .Input("data", "T")
    .Input("method", DT_STRING)
    .Output("fingerprint", DT_UINT8)
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(0, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      const int64_t rows = data.rank_known() ? data.dim(0) : -1;
      const std::optional<Tensor> method = c.InputValue(1);
      if (!method) return c.SetOutput(0, {rows, -1});
      SLUICE_INVALID_IF(method->scalar<std::string>() != "farmhash64",
                        "Unsupported method: ", method->scalar<std::string>(),
                        ", expected farmhash64");
      return c.SetOutput(0, {rows, 8});
    });

OP(StringToHashBucket,
   "Hashes each string to a bucket in [0, num_buckets). Unlike in StringToHashBucketFast, the hash "
   "may change between versions.")
    .Input("string_tensor", DT_STRING)
    .With(HashesToBuckets)
    .NotDifferentiable();

OP(StringToHashBucketFast,
   "Hashes each string to a bucket in [0, num_buckets) by FarmHash's fingerprint.")
    .Input("input", DT_STRING)
    .With(HashesToBuckets)
    .NotDifferentiable();

OP(StringToHashBucketStrong,
   "Hashes each string to a bucket in [0, num_buckets) by SipHash with a key. Colliding strings "
   "cannot be constructed without the key.")
    .Input("input", DT_STRING)
    .With(HashesToBuckets)
    .Attr("key", IntListAttr())
    .NotDifferentiable();

OP(_TensorToHashBucketFast, "StringToHashBucketFast of integers converted to text.")
    .Input("input", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .With(HashesToBuckets);

}  // namespace
}  // namespace sluice
