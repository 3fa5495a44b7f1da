// Strings and numbers into buckets by their hash.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Fingerprint, "Eight bytes for each row of data, by FarmHash's fingerprint (method farmhash64).")
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
      if (method->scalar<std::string>() != "farmhash64") {
        return InvalidArgument("unsupported fingerprint method '", method->scalar<std::string>(),
                               "'");
      }
      return c.SetOutput(0, {rows, 8});
    });

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
