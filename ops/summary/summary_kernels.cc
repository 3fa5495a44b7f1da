// Kernels that summarise tensors.
#include <set>

#include "executor/kernel/context.h"
#include "graph/format/tensor_proto.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/summary/values.h"

namespace sluice {
namespace {

absl::Status SetSummary(KernelContext& c, const pb::Summary& summary) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  SLUICE_INVALID_IF(!summary.SerializeToString(&out->scalar<std::string>()), c.node().Describe(),
                    ": expected a summary of less than 2 GiB");
  return absl::OkStatus();
}

// Adds the description of the node to TensorFlow's text.
absl::Status At(const KernelContext& c, const absl::Status& status) {
  return Annotate(status, StrCat(c.node().Describe(), ": "));
}

absl::Status ScalarSummary(KernelContext& c) {
  const Tensor& tags = c.input(0);
  const Tensor& values = c.input(1);
  const auto same = [](const TensorShape& a, const TensorShape& b) {
    return a == b || (a.num_elements() == 1 && b.num_elements() == 1 && a.rank() == b.rank());
  };
  if (!same(tags.shape(), values.shape())) {
    const std::string tag =
        tags.num_elements() == 1 ? StrCat(" (tag '", tags.data<std::string>()[0], "')") : "";
    return At(c, InvalidArgument("tags and values are not the same shape: ",
                                 tags.shape().ToString(), " != ", values.shape().ToString(), tag));
  }
  pb::Summary summary;
  for (int64_t i = 0; i < tags.num_elements(); ++i) {
    pb::Summary::Value* value = summary.add_value();
    value->set_tag(tags.data<std::string>()[i]);
    value->set_simple_value(static_cast<float>(ElementAsDouble(values, i)));
  }
  return SetSummary(c, summary);
}
KERNEL(ScalarSummary, FunctionKernel<ScalarSummary>, {"T", RealTypes()});

absl::Status HistogramSummary(KernelContext& c) {
  if (!c.input(0).shape().IsScalar()) return At(c, InvalidArgument("tags must be scalar"));
  pb::Summary summary;
  SLUICE_RETURN_IF_ERROR(
      AddHistogram(c.input(1), c.input(0).scalar<std::string>(), c.name(), &summary));
  return SetSummary(c, summary);
}
KERNEL(HistogramSummary, FunctionKernel<HistogramSummary>, {"T", RealTypes()});

class ImageSummaryKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const Tensor& bad_color = init.attr<Tensor>("bad_color");
    SLUICE_INVALID_IF(bad_color.dtype() != DT_UINT8, "bad_color must be uint8, got ",
                      DataTypeName(bad_color.dtype()));
    SLUICE_RETURN_IF_ERROR(ExpectRank(bad_color, 1, "bad_color must be a vector, got shape "));
    return std::unique_ptr<Kernel>(
        new ImageSummaryKernel(bad_color, init.attr<int64_t>("max_images")));
  }

  absl::Status Compute(KernelContext& c) override {
    if (!c.input(0).shape().IsScalar()) return At(c, InvalidArgument("Tags must be a scalar"));
    pb::Summary summary;
    SLUICE_RETURN_IF_ERROR(At(c, AddImages(c.input(1), c.input(0).scalar<std::string>(),
                                           max_images_, bad_color_, &summary)));
    return SetSummary(c, summary);
  }

 private:
  ImageSummaryKernel(Tensor bad_color, int64_t max_images)
      : bad_color_(std::move(bad_color)), max_images_(max_images) {}
  const Tensor bad_color_;
  const int64_t max_images_;
};
KERNEL(ImageSummary, ImageSummaryKernel);

absl::Status AudioSummary(KernelContext& c, Attr<int64_t, "max_outputs"> max_outputs,
                          Attr<float, "sample_rate", 0> sample_rate) {
  if (!c.input(0).shape().IsScalar()) return At(c, InvalidArgument("Tag must be a scalar"));
  float rate = sample_rate;
  if (c.num_inputs() == 3) {
    if (c.input(2).num_elements() != 1) {
      return At(c, InvalidArgument("sample_rate must be rank-0 or contain a single value"));
    }
    rate = c.input(2).data<float>()[0];
  }
  pb::Summary summary;
  SLUICE_RETURN_IF_ERROR(
      At(c, AddAudio(c.input(1), c.input(0).scalar<std::string>(), max_outputs, rate, &summary)));
  return SetSummary(c, summary);
}
KERNEL(AudioSummary, FunctionKernel<AudioSummary>);
KERNEL(AudioSummaryV2, FunctionKernel<AudioSummary>);

absl::Status MergeSummary(KernelContext& c) {
  pb::Summary merged;
  std::set<std::string> tags;
  for (int i = 0; i < c.num_inputs(); ++i) {
    for (const std::string& bytes : c.input(i).flat<std::string>()) {
      pb::Summary summary;
      if (!summary.ParseFromString(bytes)) {
        return At(c, InvalidArgument("Could not parse one of the summary inputs"));
      }
      for (pb::Summary::Value& value : *summary.mutable_value()) {
        // Skips values without a tag, such as those of TensorSummary.
        if (!value.tag().empty() && !tags.insert(value.tag()).second) {
          return At(c, InvalidArgument("Duplicate tag ", value.tag(), " found in summary inputs"));
        }
        *merged.add_value() = std::move(value);
      }
    }
  }
  return SetSummary(c, merged);
}
KERNEL(MergeSummary, FunctionKernel<MergeSummary>);

absl::Status TensorSummary(KernelContext& c) {
  pb::Summary summary;
  pb::Summary::Value* value = summary.add_value();
  value->set_node_name(c.name());
  SLUICE_RETURN_IF_ERROR(At(c, TensorToContentProto(c.input(0), value->mutable_tensor())));
  return SetSummary(c, summary);
}
KERNEL(TensorSummary, FunctionKernel<TensorSummary>);

absl::Status TensorSummaryV2(KernelContext& c) {
  if (!c.input(0).shape().IsScalar()) return At(c, InvalidArgument("tag must be scalar"));
  if (!c.input(2).shape().IsScalar()) {
    return At(c, InvalidArgument("serialized_summary_metadata must be scalar"));
  }
  pb::Summary summary;
  pb::Summary::Value* value = summary.add_value();
  value->set_tag(c.input(0).scalar<std::string>());
  SLUICE_RETURN_IF_ERROR(At(c, TensorToContentProto(c.input(1), value->mutable_tensor())));
  // As in TensorFlow, ignores metadata that cannot be parsed.
  value->mutable_metadata()->ParseFromString(c.input(2).scalar<std::string>());
  return SetSummary(c, summary);
}
KERNEL(TensorSummaryV2, FunctionKernel<TensorSummaryV2>);

}  // namespace
}  // namespace sluice
