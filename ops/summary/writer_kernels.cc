// Kernels that write summaries to event files.
#include <unistd.h>

#include <atomic>

#include "executor/kernel/context.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/state/named_resource.h"
#include "ops/summary/summary_writer.h"
#include "ops/summary/values.h"

namespace sluice {
namespace {

// Outputs a handle. CreateSummaryFileWriter makes the writer that the handle names.
struct SummaryWriterKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, false));
    return std::make_unique<NamedResourceKernel>(
        init.device_name(), name, SummaryWriterResource::kTypeName, false, nullptr, nullptr);
  }
};
KERNEL(SummaryWriter, SummaryWriterKernel);

absl::StatusOr<const ResourceHandle*> HandleOf(const KernelContext& c) {
  const Tensor& t = c.input(0);
  SLUICE_INVALID_IF(t.dtype() != DT_RESOURCE || t.num_elements() != 1 || !t.IsInitialized(),
                    c.node().Describe(), ": expected the handle of a summary writer, got ",
                    t.ToString());
  return &t.scalar<ResourceHandle>();
}

absl::StatusOr<std::shared_ptr<SummaryWriterResource>> WriterOf(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(c));
  return c.resources().Lookup<SummaryWriterResource>(*handle);
}

absl::Status At(const KernelContext& c, const absl::Status& status) {
  return Annotate(status, StrCat(c.node().Describe(), ": "));
}

// Checks that inputs [first, last] are scalars.
absl::Status CheckScalars(const KernelContext& c, int first, int last) {
  for (int i = first; i <= last; ++i) {
    SLUICE_INVALID_IF(!c.input(i).shape().IsScalar(), c.node().Describe(),
                      ": expected a scalar as input ", i, ", got shape ",
                      c.input(i).shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status CreateSummaryFileWriter(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 1, 4));
  SLUICE_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(c));
  const auto make = [&]() -> absl::StatusOr<std::shared_ptr<SummaryWriterResource>> {
    // As in TensorFlow, distinguishes writers that are made in the same second.
    static std::atomic<int> count{0};
    const std::string suffix =
        StrCat(".", getpid(), ".", count++, c.input(4).scalar<std::string>());
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<EventFile> file,
                            EventFile::Open(c.input(1).scalar<std::string>(), suffix));
    return std::make_shared<SummaryWriterResource>(std::move(file), c.input(2).scalar<int32_t>(),
                                                   c.input(3).scalar<int32_t>());
  };
  return At(c, c.resources()
                   .LookupOrCreate<SummaryWriterResource>(handle->container, handle->name, make)
                   .status());
}
KERNEL(CreateSummaryFileWriter, FunctionKernel<CreateSummaryFileWriter>);

absl::Status FlushSummaryWriter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto writer, WriterOf(c));
  return At(c, writer->Flush());
}
KERNEL(FlushSummaryWriter, FunctionKernel<FlushSummaryWriter>);

absl::Status CloseSummaryWriter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(c));
  SLUICE_ASSIGN_OR_RETURN(const auto writer, WriterOf(c));
  SLUICE_RETURN_IF_ERROR(At(c, writer->Flush()));
  return c.resources().Delete<SummaryWriterResource>(handle->container, handle->name);
}
KERNEL(CloseSummaryWriter, FunctionKernel<CloseSummaryWriter>);

// Writes an event. kFill sets all of it except the step.
using FillEvent = absl::Status (*)(KernelContext&, pb::Event*);
template <FillEvent kFill>
absl::Status WriteEvent(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto writer, WriterOf(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 1, 1));
  pb::Event event;
  event.set_step(c.input(1).scalar<int64_t>());
  SLUICE_RETURN_IF_ERROR(At(c, kFill(c, &event)));
  return At(c, writer->Write(std::move(event)));
}

absl::Status FillTensor(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 3, 4));
  pb::Summary::Value* value = event->mutable_summary()->add_value();
  value->set_tag(c.input(3).scalar<std::string>());
  const std::string& metadata = c.input(4).scalar<std::string>();
  if (!metadata.empty()) value->mutable_metadata()->ParseFromString(metadata);
  return TensorToContentProto(c.input(2), value->mutable_tensor());
}
KERNEL(WriteSummary, FunctionKernel<WriteEvent<FillTensor>>);

absl::Status FillRaw(KernelContext& c, pb::Event* event) {
  const auto parts = c.input(2).flat<std::string>();
  for (size_t i = 0; i < parts.size(); ++i) {
    pb::Summary part;
    if (!part.ParseFromString(parts[i])) {
      return absl::DataLossError(
          StrCat("Bad tf.compat.v1.Summary binary proto tensor string at index ", i));
    }
    event->mutable_summary()->MergeFrom(part);
  }
  return absl::OkStatus();
}
KERNEL(WriteRawProtoSummary, FunctionKernel<WriteEvent<FillRaw>>);

absl::Status FillScalar(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 2, 3));
  pb::Summary::Value* value = event->mutable_summary()->add_value();
  value->set_tag(c.input(2).scalar<std::string>());
  value->set_simple_value(static_cast<float>(ElementAsDouble(c.input(3), 0)));
  return absl::OkStatus();
}
KERNEL(WriteScalarSummary, FunctionKernel<WriteEvent<FillScalar>>);

absl::Status FillHistogram(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 2, 2));
  const std::string& tag = c.input(2).scalar<std::string>();
  return AddHistogram(c.input(3), tag, tag, event->mutable_summary());
}
KERNEL(WriteHistogramSummary, FunctionKernel<WriteEvent<FillHistogram>>);

absl::Status FillImages(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 2, 2));
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(4), 1, "bad_color must be a vector, got shape "));
  return AddImages(c.input(3), c.input(2).scalar<std::string>(),
                   c.node().AttrOr<int64_t>("max_images", 3), c.input(4), event->mutable_summary());
}
KERNEL(WriteImageSummary, FunctionKernel<WriteEvent<FillImages>>);

absl::Status FillAudio(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 2, 2));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 4, 4));
  return AddAudio(c.input(3), c.input(2).scalar<std::string>(),
                  c.node().AttrOr<int64_t>("max_outputs", 3), c.input(4).scalar<float>(),
                  event->mutable_summary());
}
KERNEL(WriteAudioSummary, FunctionKernel<WriteEvent<FillAudio>>);

absl::Status FillGraph(KernelContext& c, pb::Event* event) {
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 2, 2));
  pb::GraphDef graph;
  if (!graph.ParseFromString(c.input(2).scalar<std::string>())) {
    return absl::DataLossError("Bad tf.GraphDef binary proto tensor string");
  }
  event->set_graph_def(c.input(2).scalar<std::string>());
  return absl::OkStatus();
}
KERNEL(WriteGraphSummary, FunctionKernel<WriteEvent<FillGraph>>);

absl::Status ImportEvent(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto writer, WriterOf(c));
  SLUICE_RETURN_IF_ERROR(CheckScalars(c, 1, 1));
  pb::Event event;
  if (!event.ParseFromString(c.input(1).scalar<std::string>())) {
    return At(c, absl::DataLossError("Bad tf.Event binary proto tensor string"));
  }
  return At(c, writer->Write(std::move(event)));
}
KERNEL(ImportEvent, FunctionKernel<ImportEvent>);

}  // namespace
}  // namespace sluice
