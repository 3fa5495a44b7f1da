#include <algorithm>
#include <memory>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"
#include "ops/ragged/ragged_variant.h"
#include "ops/ragged/splits.h"

namespace sluice {
namespace {

void WriteSplits(const Splits& splits, Tensor* to) {
  for (size_t i = 0; i < splits.size(); ++i) SetIntAt(*to, static_cast<int64_t>(i), splits[i]);
}

absl::StatusOr<Tensor> SplitsTensor(KernelContext& c, DataType dtype, const Splits& splits) {
  SLUICE_ASSIGN_OR_RETURN(Tensor t, c.AllocateTemp(dtype, {static_cast<int64_t>(splits.size())}));
  WriteSplits(splits, &t);
  return t;
}

absl::Status SetSplits(KernelContext& c, int i, const Splits& splits) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, {static_cast<int64_t>(splits.size())}));
  WriteSplits(splits, out);
  return absl::OkStatus();
}

class RaggedTensorToVariantKernel : public Kernel {
 public:
  explicit RaggedTensorToVariantKernel(KernelInit& init)
      : ragged_rank_(init.InputRange("rt_nested_splits").second),
        is_batch_(init.attr<bool>("batched_input")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& values = c.input(ragged_rank_);
    SLUICE_INVALID_IF(values.rank() == 0, "rt_dense_values must have rank >= 1");
    if (!is_batch_) {
      Tensors splits;
      for (int i = 0; i < ragged_rank_; ++i) splits.push_back(c.input(i));
      SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {}));
      out->scalar<Variant>() =
          Variant(std::make_shared<const RaggedVariant>(std::move(splits), values));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Splits> splits,
                            NestedSplitsOf(c, ragged_rank_, values.dim(0)));
    SLUICE_INVALID_IF(splits.empty(), "batched_input needs splits, got none");
    const auto rows = static_cast<int64_t>(splits[0].size()) - 1;
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {rows}));
    for (int64_t row = 0; row < rows; ++row) {
      SLUICE_ASSIGN_OR_RETURN(out->data<Variant>()[row],
                              Row(c, row, splits, values, c.input(0).dtype()));
    }
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<Variant> Row(KernelContext& c, int64_t row,
                                     const std::vector<Splits>& splits, const Tensor& values,
                                     DataType dtype) {
    Tensors own;
    int64_t begin = splits[0][row], end = splits[0][row + 1];
    for (size_t d = 1; d < splits.size(); ++d) {
      Splits part(splits[d].begin() + begin, splits[d].begin() + end + 1);
      begin = part.front();
      end = part.back();
      for (int64_t& at : part) at -= begin;
      SLUICE_ASSIGN_OR_RETURN(Tensor own_splits, SplitsTensor(c, dtype, part));
      own.push_back(std::move(own_splits));
    }
    return Variant(
        std::make_shared<const RaggedVariant>(std::move(own), values.SliceRows(begin, end)));
  }

  const int ragged_rank_;
  const bool is_batch_;
};
KERNEL(RaggedTensorToVariant, RaggedTensorToVariantKernel);

class RaggedTensorFromVariantKernel : public Kernel {
 public:
  explicit RaggedTensorFromVariantKernel(KernelInit& init)
      : input_rank_(init.attr<int64_t>("input_ragged_rank")),
        output_rank_(init.attr<int64_t>("output_ragged_rank")),
        splits_type_(init.attr<DataType>("Tsplits")),
        values_type_(init.attr<DataType>("Tvalues")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& encoded = c.input(0);
    const int64_t rank = input_rank_ >= 0 ? input_rank_ : output_rank_ - encoded.rank();
    SLUICE_INVALID_IF(rank < 0, "Inferred input_ragged_rank (output_ragged_rank - ",
                      "encoded_variant.dims()) must be >= 0, found output_ragged_rank: ",
                      output_rank_, ", encoded_variant.dims(): ", encoded.rank());
    SLUICE_INVALID_IF(output_rank_ - rank != encoded.rank(),
                      "output_ragged_rank must be equal to input_ragged_rank + ",
                      "encoded_ragged.dims(); output_ragged_rank: ", output_rank_,
                      ", input_ragged_rank: ", rank, ", encoded_variant.dims(): ", encoded.rank());
    std::vector<const RaggedVariant*> parts;
    for (int64_t i = 0; i < encoded.num_elements(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(const RaggedVariant* part, Part(encoded.data<Variant>()[i], i, rank));
      parts.push_back(part);
    }
    if (encoded.rank() == 0) {
      for (int i = 0; i < rank; ++i) c.set_output(i, parts[0]->splits[static_cast<size_t>(i)]);
      c.set_output(static_cast<int>(rank), parts[0]->values);
      return absl::OkStatus();
    }
    SLUICE_RETURN_IF_ERROR(SetOuterSplits(c, encoded, parts, rank));
    for (int64_t i = 0; i < rank; ++i) {
      SLUICE_RETURN_IF_ERROR(SetInnerSplits(c, encoded, parts, i));
    }
    return SetValues(c, parts);
  }

 private:
  absl::StatusOr<const RaggedVariant*> Part(const Variant& variant, int64_t i, int64_t rank) const {
    const auto* part = variant.get<RaggedVariant>();
    SLUICE_INVALID_IF(part == nullptr, "Input Variant element at index ", i,
                      " doesn't hold a RaggedTensorVariant: '", variant.TypeName(), "'");
    SLUICE_INVALID_IF(static_cast<int64_t>(part->splits.size()) != rank,
                      "Encoded input RaggedTensorVariant has ragged_rank=", part->splits.size(),
                      ".  Expected ragged_rank=", rank, ".");
    SLUICE_INVALID_IF(part->values.dtype() != values_type_,
                      "Expected values Tensor dtype: ", DataTypeName(values_type_),
                      ", found: ", DataTypeName(part->values.dtype()));
    for (const Tensor& splits : part->splits) {
      SLUICE_INVALID_IF(splits.dtype() != splits_type_,
                        "Expected row_splits Tensor dtype: ", DataTypeName(splits_type_),
                        ", found: ", DataTypeName(splits.dtype()));
      SLUICE_INVALID_IF(splits.rank() != 1 || splits.num_elements() == 0,
                        "Ragged splits must have rank 1 and an element; element ", i,
                        " has splits of shape ", splits.shape().ToString());
    }
    return part;
  }

  // Sets the splits of the dimensions that come from the tensor of variants. The last dimension has
  // the rows of the ragged tensors in the variants. The others are uniform.
  absl::Status SetOuterSplits(KernelContext& c, const Tensor& encoded,
                              const std::vector<const RaggedVariant*>& parts, int64_t rank) const {
    int64_t rows = 1;
    for (int d = 0; d + 1 < encoded.rank(); ++d) {
      rows = SaturatedProduct(rows, encoded.dim(d));
      SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "splits"));
      SLUICE_RETURN_IF_ERROR(SetSplits(c, d, EvenSplits(rows, encoded.dim(d + 1))));
    }
    std::vector<int64_t> lengths = {0};
    for (const RaggedVariant* part : parts) {
      const int64_t length = rank > 0 ? part->splits[0].num_elements() - 1 : part->values.dim(0);
      lengths.push_back(SaturatedSum(lengths.back(), length));
    }
    return SetSplits(c, encoded.rank() - 1, lengths);
  }

  // The variants may share one ragged tensor, so that few bytes of input yield many splits.
  static absl::Status SetInnerSplits(KernelContext& c, const Tensor& encoded,
                                     const std::vector<const RaggedVariant*>& parts, int64_t i) {
    int64_t count = 1;
    for (const RaggedVariant* part : parts) {
      count = SaturatedSum(count, part->splits[static_cast<size_t>(i)].num_elements() - 1);
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(encoded.rank() + static_cast<int>(i), {count}));
    int64_t at = 0, last = 0;
    SetIntAt(*out, at++, last);
    for (const RaggedVariant* part : parts) {
      const Tensor& splits = part->splits[static_cast<size_t>(i)];
      const int64_t before = last;
      for (int64_t k = 1; k < splits.num_elements(); ++k) {
        // The sum may wrap around, because splits are not validated.
        last = WrappingAdd(IntAt(splits, k), before);
        SetIntAt(*out, at++, last);
      }
    }
    return absl::OkStatus();
  }

  absl::Status SetValues(KernelContext& c, const std::vector<const RaggedVariant*>& parts) const {
    std::vector<int64_t> dims = {0};  // the shape is unknown if there are no values
    if (!parts.empty()) {
      const auto first = parts[0]->values.shape().dims();
      dims.assign(first.begin(), first.end());
      dims[0] = 0;
    }
    Tensors all;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Tensor& values = parts[i]->values;
      SLUICE_INVALID_IF(
          values.rank() != static_cast<int>(dims.size()) ||
              !std::equal(dims.begin() + 1, dims.end(), values.shape().dims().begin() + 1),
          "Rank of values must match for all components; values shape at ",
          "index 0: ", parts[0]->values.shape().ToString(), ", values shape at index ", i, ": ",
          values.shape().ToString());
      dims[0] = SaturatedSum(dims[0], values.dim(0));
      all.push_back(values);
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(static_cast<int>(output_rank_), shape));
    JoinElements(all, out);
    return absl::OkStatus();
  }

  const int64_t input_rank_, output_rank_;
  const DataType splits_type_, values_type_;
};
KERNEL(RaggedTensorFromVariant, RaggedTensorFromVariantKernel);

}  // namespace
}  // namespace sluice
