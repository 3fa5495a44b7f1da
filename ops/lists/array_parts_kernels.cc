// Kernels that read or write many elements of a TensorArray as one tensor.
#include <algorithm>
#include <numeric>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/lists/array.h"
#include "ops/lists/list_input.h"
#include "ops/lists/step_object.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

template <typename... Args>
absl::Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(StrCat(args...));
}

absl::StatusOr<std::shared_ptr<TensorArrayObject>> ArrayToRead(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<TensorArrayObject> array,
                          StepObject<TensorArrayObject>(c));
  SLUICE_INVALID_IF(array->dtype() != c.output_dtype(0), "TensorArray dtype is ",
                    DataTypeName(array->dtype()), " but Op requested dtype ",
                    DataTypeName(c.output_dtype(0)), ".");
  return array;
}

absl::StatusOr<std::vector<int32_t>> AllIndices(const TensorArrayObject& array) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, array.Size());
  std::vector<int32_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The kernel of TensorArrayGather, and of TensorArrayPack in old graphs.
class GatherKernel : public Kernel {
 public:
  explicit GatherKernel(KernelInit& init)
      : element_shape_(init.AttrOr<PartialShape>("element_shape", PartialShape())),
        is_pack_(init.node().op() == "TensorArrayPack") {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorArrayObject> array, ArrayToRead(c));
    SLUICE_RETURN_IF_ERROR(array->MergeElementShape(element_shape_));
    std::vector<int32_t> indices;
    if (is_pack_) {
      SLUICE_ASSIGN_OR_RETURN(indices, AllIndices(*array));
    } else {
      const Tensor& given = c.input(1);
      SLUICE_RETURN_IF_ERROR(
          ExpectRank(given, 1, "Expected indices to be a vector, but received shape: "));
      indices.assign(given.data<int32_t>(), given.data<int32_t>() + given.num_elements());
    }
    if (indices.empty()) return Empty(c, array->element_shape());
    SLUICE_ASSIGN_OR_RETURN(Tensors values, array->ReadMany(*c.step().allocator, indices));
    TensorShape shape = values[0].shape();
    for (size_t i = 1; i < values.size(); ++i) {
      if (values[i].shape() == shape) continue;
      return InvalidArgument(
          "TensorArray has inconsistent shapes.  Index 0 has shape: ", shape.ToString(),
          " but index ", i, " has shape: ", values[i].shape().ToString());
    }
    shape.InsertDim(0, static_cast<int64_t>(values.size()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    JoinElements(values, out);
    return absl::OkStatus();
  }

 private:
  absl::Status Empty(KernelContext& c, const PartialShape& element) const {
    if (!element.IsFullyDefined()) {
      return Unimplemented("TensorArray has size zero, but element shape ", element.ToString(),
                           " is not fully defined. Currently only static shapes are supported ",
                           "when packing zero-size TensorArrays.");
    }
    TensorShape shape = element.AsShape();
    shape.InsertDim(0, 0);
    return c.AllocateOutput(0, shape).status();
  }

  const PartialShape element_shape_;
  const bool is_pack_;
};

class ConcatKernel : public Kernel {
 public:
  explicit ConcatKernel(KernelInit& init)
      : rest_(init.AttrOr<PartialShape>("element_shape_except0", PartialShape())) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorArrayObject> array, ArrayToRead(c));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> indices, AllIndices(*array));
    if (indices.empty()) {
      if (!rest_.IsFullyDefined()) {
        return Unimplemented("TensorArray has size zero, but element_shape_except0 ",
                             rest_.ToString(),
                             " is not fully defined. Currently only static shapes are supported ",
                             "when concatenating zero-size TensorArrays.");
      }
      TensorShape shape = rest_.AsShape();
      shape.InsertDim(0, 0);
      SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape).status());
      return c.AllocateOutput(1, {0}).status();
    }
    SLUICE_ASSIGN_OR_RETURN(const Tensors values, array->ReadMany(*c.step().allocator, indices));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, JoinedShape(values));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    SLUICE_ASSIGN_OR_RETURN(Tensor * lengths,
                            c.AllocateOutput(1, {static_cast<int64_t>(values.size())}));
    for (size_t i = 0; i < values.size(); ++i) lengths->data<int64_t>()[i] = values[i].dim(0);
    JoinElements(values, out);
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<TensorShape> JoinedShape(const Tensors& values) const {
    TensorShape first;
    int64_t rows = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      TensorShape rest = values[i].shape();
      SLUICE_INVALID_IF(rest.rank() == 0, "Concat saw a scalar shape at index ", i,
                        " but requires at least vectors.  Did you mean to call pack?");
      rows = SaturatedSum(rows, rest.dim(0));
      rest.RemoveDim(0);
      if (i == 0) {
        first = rest;
        SLUICE_INVALID_IF(!rest_.IsCompatibleWith(rest),
                          "TensorArray was passed element_shape_except0 ", rest_.ToString(),
                          " but index 0 has (excepting dimension 0) shape: ", rest.ToString());
      } else if (!(rest == first)) {
        return InvalidArgument(
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: ",
            first.ToString(), " but index ", i,
            " has (excepting dimension 0) shape: ", rest.ToString());
      }
    }
    first.InsertDim(0, rows);
    return first;
  }

  const PartialShape rest_;
};

absl::Status PassFlow(KernelContext& c) {
  c.output_value(0) = c.input_value(c.num_inputs() - 1);
  return absl::OkStatus();
}

absl::Status CheckIndices(const Tensor& given, const Tensor& value) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(given, 1, "Expected indices to be a vector, but received shape: "));
  SLUICE_INVALID_IF(given.num_elements() != value.dim(0),
                    "Expected len(indices) == values.shape[0], but saw: ", given.num_elements(),
                    " vs. ", value.dim(0));
  return absl::OkStatus();
}

// Computes TensorArrayScatter, and TensorArrayUnpack in old graphs.
absl::Status Scatter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  const bool is_unpack = c.node().op() == "TensorArrayUnpack";
  const Tensor& value = c.input(is_unpack ? 1 : 2);
  SLUICE_INVALID_IF(value.rank() < 1,
                    "Input value for unpack must be at least a vector but received shape: ",
                    value.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  // Checks the number of rows, because each element of the array takes memory even if its row is
  // empty.
  if (array->dynamic_size()) SLUICE_RETURN_IF_ERROR(TensorArrayObject::CheckSize(value.dim(0)));
  std::vector<int32_t> indices;
  if (is_unpack) {
    SLUICE_INVALID_IF(!array->dynamic_size() && size != value.dim(0),
                      "Input value must have first dimension equal to the array size (",
                      value.dim(0), " vs. ", size, ")");
    indices.resize(static_cast<size_t>(value.dim(0)));
    std::iota(indices.begin(), indices.end(), 0);
  } else {
    const Tensor& given = c.input(1);
    SLUICE_RETURN_IF_ERROR(CheckIndices(given, value));
    indices.assign(given.data<int32_t>(), given.data<int32_t>() + given.num_elements());
    const auto max = std::max_element(indices.begin(), indices.end());
    SLUICE_INVALID_IF(max != indices.end() && *max >= size && !array->dynamic_size(),
                      "Max scatter index must be < array size (", *max, " vs. ", size, ")");
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(
        array->Write(*c.step().allocator, indices[i], RowOf(value, static_cast<int64_t>(i))));
  }
  return PassFlow(c);
}

absl::Status Split(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  const Tensor& value = c.input(1);
  const Tensor& lengths = c.input(2);
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(lengths, 1, "Expected lengths to be a vector, received shape: "));
  SLUICE_INVALID_IF(
      value.rank() < 1,
      "Expected value to be at least a vector, but received shape: ", value.shape().ToString());
  const auto parts = lengths.flat<int64_t>();
  int64_t rows = 0;
  for (int64_t n : parts) {
    if (n < 0 || n > value.dim(0) - rows) rows = -1;
    if (rows < 0) break;
    rows += n;
  }
  SLUICE_INVALID_IF(
      rows != value.dim(0),
      "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ",
      std::accumulate(parts.begin(), parts.end(), int64_t{0},
                      [](int64_t a, int64_t b) {
                        return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                                    static_cast<uint64_t>(b));
                      }),
      " and value's shape is: ", value.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  SLUICE_INVALID_IF(static_cast<int64_t>(parts.size()) != size && !array->dynamic_size(),
                    "TensorArray's size is not equal to the size of lengths (", size, " vs. ",
                    parts.size(), "), and the TensorArray is not marked as dynamically resizeable");
  int64_t begin = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor part = value.SliceRows(begin, begin + parts[i]);
    begin += parts[i];
    SLUICE_RETURN_IF_ERROR(array->Write(*c.step().allocator, static_cast<int64_t>(i), part));
  }
  return PassFlow(c);
}

KERNEL(TensorArrayPack, GatherKernel);
KERNEL(TensorArrayGather, GatherKernel);
KERNEL(TensorArrayGatherV2, GatherKernel);
KERNEL(TensorArrayGatherV3, GatherKernel);
KERNEL(TensorArrayConcat, ConcatKernel);
KERNEL(TensorArrayConcatV2, ConcatKernel);
KERNEL(TensorArrayConcatV3, ConcatKernel);
KERNEL(TensorArrayUnpack, FunctionKernel<Scatter>);
KERNEL(TensorArrayScatter, FunctionKernel<Scatter>);
KERNEL(TensorArrayScatterV2, FunctionKernel<Scatter>);
KERNEL(TensorArrayScatterV3, FunctionKernel<Scatter>);
KERNEL(TensorArraySplit, FunctionKernel<Split>);
KERNEL(TensorArraySplitV2, FunctionKernel<Split>);
KERNEL(TensorArraySplitV3, FunctionKernel<Split>);

}  // namespace
}  // namespace sluice
