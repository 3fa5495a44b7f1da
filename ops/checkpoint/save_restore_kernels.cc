// Kernels that save tensors to checkpoints and restore them.
#include <shared_mutex>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/v1.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

absl::StatusOr<std::string> OneString(const KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  SLUICE_INVALID_IF(t.num_elements() != 1, "Input ", name, " should have a single element, got ",
                    t.num_elements(), " instead.");
  return t.scalar<std::string>();
}

// Checks the names (input 1) and slices (input 2, if the op has them) of `tensors` tensors.
absl::Status CheckLists(const KernelContext& c, bool has_slices, int tensors) {
  const Tensor& names = c.input(1);
  const Tensor& slices = c.input(has_slices ? 2 : 1);
  SLUICE_INVALID_IF(names.rank() != 1 || slices.rank() != 1,
                    "Input tensor_names and shape_and_slices should be an 1-D tensors, got ",
                    names.shape().ToString(), " and ", slices.shape().ToString(), " instead.");
  SLUICE_INVALID_IF(names.num_elements() != slices.num_elements(),
                    "tensor_names and shape_and_slices have different number of elements: ",
                    names.num_elements(), " vs. ", slices.num_elements());
  SLUICE_INVALID_IF(names.num_elements() != tensors, "Got ", names.num_elements(),
                    " tensor names but ", tensors, " tensors.");
  return absl::OkStatus();
}

absl::StatusOr<ShapeAndSlice> SpecOf(const std::string& text, const Tensor& tensor) {
  SLUICE_ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(text));
  SLUICE_INVALID_IF(
      !spec.is_whole && !(spec.slice_shape == tensor.shape()),
      "Slice in shape_and_slice specification does not match the shape of the tensor to  save: ",
      text, ", tensor: ", tensor.shape().ToString());
  return spec;
}

absl::Status SaveV2(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string prefix, OneString(c, 0, "prefix"));
  const int n = c.num_inputs() - 3;
  SLUICE_RETURN_IF_ERROR(CheckLists(c, true, n));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  for (int i = 0; i < n; ++i) {
    const std::string& name = c.input(1).data<std::string>()[i];
    const Tensor& tensor = c.input(3 + i);
    SLUICE_ASSIGN_OR_RETURN(const ShapeAndSlice spec,
                            SpecOf(c.input(2).data<std::string>()[i], tensor));
    SLUICE_RETURN_IF_ERROR(spec.is_whole
                               ? writer->Add(name, tensor)
                               : writer->AddSlice(name, spec.full_shape, spec.slice, tensor));
  }
  return writer->Finish();
}

absl::Status SaveV1(KernelContext& c, bool has_slices) {
  SLUICE_ASSIGN_OR_RETURN(const std::string path, OneString(c, 0, "filename"));
  const int first = has_slices ? 3 : 2;
  SLUICE_RETURN_IF_ERROR(CheckLists(c, has_slices, c.num_inputs() - first));
  V1Writer writer(path);
  for (int i = first; i < c.num_inputs(); ++i) {
    const Tensor& tensor = c.input(i);
    const std::string& name = c.input(1).data<std::string>()[i - first];
    ShapeAndSlice spec;
    if (has_slices) {
      SLUICE_ASSIGN_OR_RETURN(spec, SpecOf(c.input(2).data<std::string>()[i - first], tensor));
    }
    if (spec.is_whole) {
      spec.full_shape = tensor.shape();
      spec.slice = TensorSlice::Full(tensor.rank());
    }
    SLUICE_RETURN_IF_ERROR(writer.Add(name, spec.full_shape, spec.slice, tensor));
  }
  return writer.Finish();
}
absl::Status Save(KernelContext& c) { return SaveV1(c, false); }
absl::Status SaveSlices(KernelContext& c) { return SaveV1(c, true); }

absl::Status ShapeMismatch(std::string_view name, const TensorShape& requested,
                           const TensorShape& stored) {
  return InvalidArgument("tensor_name = ", name, "; shape in shape_and_slice spec ",
                         requested.ToString(),
                         " does not match the shape stored in checkpoint: ", stored.ToString());
}

absl::StatusOr<Tensor> RestoreV1(const V1Reader& reader, const std::string& name,
                                 const std::string& slice, DataType dtype) {
  SLUICE_ASSIGN_OR_RETURN(const ShapeAndSlice spec, ParseShapeAndSlice(slice));
  SLUICE_ASSIGN_OR_RETURN(const V1Reader::Entry entry, reader.Find(name));
  SLUICE_INVALID_IF(entry.dtype != dtype, "Expected to restore a tensor of type ",
                    DataTypeName(dtype), ", got a tensor of type ", DataTypeName(entry.dtype),
                    " instead: tensor_name = ", name, " (checkpoint files ", reader.pattern(), ")");
  if (spec.is_whole) return reader.ReadSlice(name, TensorSlice::Full(entry.shape.rank()));
  if (!(spec.full_shape == entry.shape)) return ShapeMismatch(name, spec.full_shape, entry.shape);
  return reader.ReadSlice(name, spec.slice);
}

absl::StatusOr<Tensor> RestoreFromBundle(const BundleReader& reader, const std::string& name,
                                         const ShapeAndSlice& spec) {
  if (spec.is_whole) return reader.Read(name);
  SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader.Find(name));
  if (!(spec.full_shape == entry.shape)) {
    return AnnotateAfter(ShapeMismatch(name, spec.full_shape, entry.shape),
                         StrCat(" (checkpoint '", reader.prefix(), "')"));
  }
  return reader.ReadSlice(name, spec.slice);
}

// Checks all tensors before any is read. Reports a missing tensor before a tensor of a wrong type.
absl::Status CheckBundle(const KernelContext& c, const BundleReader& reader) {
  for (const std::string& name : c.input(1).flat<std::string>()) {
    SLUICE_RETURN_IF_ERROR(reader.Find(name).status());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const std::string& name = c.input(1).data<std::string>()[i];
    SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader.Find(name));
    SLUICE_INVALID_IF(entry.dtype != c.output_dtype(i), "tensor_name = ", name, "; expected dtype ",
                      DataTypeName(c.output_dtype(i)), " does not equal original dtype ",
                      DataTypeName(entry.dtype), " (checkpoint '", reader.prefix(), "')");
  }
  return absl::OkStatus();
}

absl::Status RestoreV2(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string prefix, OneString(c, 0, "prefix"));
  SLUICE_INVALID_IF(c.input(1).num_elements() != c.num_outputs(), "Got ", c.input(1).num_elements(),
                    " tensor names, but ", c.num_outputs(), " expected dtypes.");
  SLUICE_RETURN_IF_ERROR(CheckLists(c, true, c.num_outputs()));
  const auto name = [&](int i) -> const std::string& { return c.input(1).data<std::string>()[i]; };
  const auto slice = [&](int i) -> const std::string& { return c.input(2).data<std::string>()[i]; };
  if (!FileExists(BundleIndexName(prefix))) {
    SLUICE_ASSIGN_OR_RETURN(const V1Reader reader, V1Reader::Open(prefix));
    for (int i = 0; i < c.num_outputs(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(Tensor tensor,
                              RestoreV1(reader, name(i), slice(i), c.output_dtype(i)));
      c.set_output(i, std::move(tensor));
    }
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  SLUICE_RETURN_IF_ERROR(CheckBundle(c, *reader));
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const ShapeAndSlice spec, ParseShapeAndSlice(slice(i)));
    SLUICE_ASSIGN_OR_RETURN(Tensor tensor, RestoreFromBundle(*reader, name(i), spec));
    c.set_output(i, std::move(tensor));
  }
  return absl::OkStatus();
}

absl::Status RestoreOne(KernelContext& c, const std::string& slice) {
  SLUICE_ASSIGN_OR_RETURN(const std::string pattern, OneString(c, 0, "file_pattern"));
  SLUICE_ASSIGN_OR_RETURN(const std::string name, OneString(c, 1, "tensor_name"));
  SLUICE_ASSIGN_OR_RETURN(const V1Reader reader, V1Reader::Open(pattern));
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, RestoreV1(reader, name, slice, c.output_dtype(0)));
  c.set_output(0, std::move(tensor));
  return absl::OkStatus();
}
absl::Status Restore(KernelContext& c) { return RestoreOne(c, ""); }
absl::Status RestoreSlice(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string slice, OneString(c, 2, "shape_and_slice"));
  return RestoreOne(c, slice);
}

absl::Status DisableCopyOnRead(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariable(c, 0));
  std::shared_lock lock(variable->claim, std::try_to_lock);
  if (!lock) return RunAgainAfter(c, variable);
  if (variable->is_initialized) return absl::OkStatus();
  return VariableNotReadable(c, 0, c.input(0).scalar<ResourceHandle>());
}

class MergeV2CheckpointsKernel final : public Kernel {
 public:
  explicit MergeV2CheckpointsKernel(KernelInit& init)
      : options_{.delete_old_dirs = init.attr<bool>("delete_old_dirs"),
                 .allow_missing_files = init.attr<bool>("allow_missing_files")} {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& sources = c.input(0);
    const Tensor& destination = c.input(1);
    SLUICE_INVALID_IF(sources.rank() != 1,
                      "Input checkpoint_prefixes should be an 1-D tensor, got ",
                      sources.shape().ToString(), " instead.");
    SLUICE_INVALID_IF(destination.rank() != 0,
                      "Input destination_prefix should be a scalar tensor, got ",
                      destination.shape().ToString(), " instead.");
    const auto names = sources.flat<std::string>();
    return MergeBundles({names.begin(), names.end()}, destination.scalar<std::string>(), options_);
  }

 private:
  const MergeOptions options_;
};

KERNEL(DisableCopyOnRead, FunctionKernel<DisableCopyOnRead>);
KERNEL(MergeV2Checkpoints, MergeV2CheckpointsKernel);
KERNEL(Restore, FunctionKernel<Restore>);
KERNEL(RestoreSlice, FunctionKernel<RestoreSlice>);
KERNEL(RestoreV2, FunctionKernel<RestoreV2>);
KERNEL(Save, FunctionKernel<Save>);
KERNEL(SaveSlices, FunctionKernel<SaveSlices>);
KERNEL(SaveV2, FunctionKernel<SaveV2>);

}  // namespace
}  // namespace sluice
