// Strings and numbers into buckets by their hash.

#include "ops/op.h"

namespace sluice {
namespace {

OP(StringToHashBucket,
   "A bucket in [0, num_buckets) for each string. The hash may change; StringToHashBucketFast's "
   "does not.")
    .Input("string_tensor", DT_STRING)
    .Output("output", DT_INT64)
    .Attr("num_buckets", IntAttr().Min(1))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(StringToHashBucketFast,
   "A bucket in [0, num_buckets) for each string, by FarmHash's fingerprint.")
    .Input("input", DT_STRING)
    .Output("output", DT_INT64)
    .Attr("num_buckets", IntAttr().Min(1))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(StringToHashBucketStrong,
   "A bucket in [0, num_buckets) for each string, by SipHash with a key: nobody without the key "
   "can make strings that collide.")
    .Input("input", DT_STRING)
    .Output("output", DT_INT64)
    .Attr("num_buckets", IntAttr().Min(1))
    .Attr("key", IntListAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(_TensorToHashBucketFast,
   "StringToHashBucketFast of whole numbers as text: what AsString and it become.")
    .Input("input", "T")
    .Output("output", DT_INT64)
    .Attr("T", TypeAttr({DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_INT32, DT_UINT32, DT_INT64,
                         DT_UINT64}))
    .Attr("num_buckets", IntAttr().Min(1))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
