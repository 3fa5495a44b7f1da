#include "training/summary/summary.h"

#include <cctype>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/format/proto/summary.pb.h"
#include "graph/status.h"
#include "ops/builders/constant.h"
#include "ops/summary/builders.h"

namespace sluice::summary {
namespace {

// Keeps only letters, digits and "-/_.". The result does not begin with '/'.
std::string CleanTag(std::string_view name) {
  std::string clean;
  for (char c : name) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view("-/_.").find(c) != std::string_view::npos;
    if (clean.empty() && c == '/') continue;
    clean.push_back(keep ? c : '_');
  }
  return clean;
}

std::string WithoutSlash(const std::string& prefix) {
  return prefix.empty() ? prefix : prefix.substr(0, prefix.size() - 1);
}

// The name scope of a summary, and the tag that is derived from it.
class SummaryScope {
 public:
  SummaryScope(Graph& graph, std::string_view name, std::string_view family)
      : scope_(graph,
               family.empty() ? CleanTag(name) : StrCat(CleanTag(family), "/", CleanTag(name))) {
    tag_ = WithoutSlash(scope_.prefix());
    if (!family.empty()) tag_ = StrCat(CleanTag(family), "/", tag_);
  }
  const std::string& name() const { return scope_.prefix(); }
  const std::string& tag() const { return tag_; }

 private:
  NameScope scope_;
  std::string tag_;
};

Output Collect(Output summary, const std::vector<std::string>& collections) {
  if (!summary) return summary;
  for (const std::string& key : collections) summary.graph()->AddToCollection(key, summary.name());
  return summary;
}

}  // namespace

Output Scalar(std::string_view name, Output value, const Options& options, At at) {
  if (!value) return {};
  Graph& g = *value.graph();
  const SummaryScope scope(g, name, options.family);
  const Output tags = Constant(g, scope.tag(), "tags", at);
  return Collect(ScalarSummary(tags, value, {.name = scope.name()}, at), options.collections);
}

Output Histogram(std::string_view name, Output values, const Options& options, At at) {
  if (!values) return {};
  Graph& g = *values.graph();
  const SummaryScope scope(g, name.empty() ? "HistogramSummary" : name, options.family);
  const Output tag = Constant(g, scope.tag(), "tag", at);
  return Collect(HistogramSummary(tag, values, {.name = scope.name()}, at), options.collections);
}

Output Image(std::string_view name, Output images, int max_outputs, const Options& options, At at) {
  if (!images) return {};
  Graph& g = *images.graph();
  const SummaryScope scope(g, name, options.family);
  const Output tag = Constant(g, scope.tag(), "tag", at);
  return Collect(ImageSummary(tag, images, {.name = scope.name(), .max_images = max_outputs}, at),
                 options.collections);
}

Output Audio(std::string_view name, Output samples, float sample_rate, int max_outputs,
             const Options& options, At at) {
  if (!samples) return {};
  Graph& g = *samples.graph();
  const SummaryScope scope(g, name, options.family);
  const Output rate = Constant(g, sample_rate, "sample_rate", at);
  const Output tag = Constant(g, scope.tag(), "tag", at);
  return Collect(
      AudioSummaryV2(tag, samples, rate, {.name = scope.name(), .max_outputs = max_outputs}, at),
      options.collections);
}

Output Text(std::string_view name, Output text, const Options& options, At at) {
  pb::SummaryMetadata metadata;
  metadata.mutable_plugin_data()->set_plugin_name("text");
  return Tensor(name, text, metadata, options, at);
}

Output Tensor(std::string_view name, Output tensor, const pb::SummaryMetadata& metadata,
              const Options& options, At at) {
  if (!tensor) return {};
  Graph& g = *tensor.graph();
  const SummaryScope scope(g, name, options.family);
  const Output tag = Constant(g, scope.tag(), "tag", at);
  const Output serialized =
      Constant(g, metadata.SerializeAsString(), "serialized_summary_metadata", at);
  return Collect(TensorSummaryV2(tag, tensor, serialized, {.name = scope.name()}, at),
                 options.collections);
}

Output Merge(const OutputList& inputs, std::string_view name,
             const std::vector<std::string>& collections, At at) {
  Graph* graph = GraphOf({}, {&inputs});
  if (graph == nullptr) return {};
  const NameScope scope(*graph, name.empty() ? "Merge" : CleanTag(name));
  // Like TensorFlow, uses the cleaned name again inside the scope with that name.
  const std::string clean = CleanTag(name);
  return Collect(MergeSummary(inputs, {.name = clean}, at), collections);
}

Output MergeAll(Graph& graph, std::string_view key, std::string_view scope, std::string_view name,
                At at) {
  OutputList inputs;
  for (const std::string& tensor : graph.Collection(key)) {
    if (!std::string_view(tensor).starts_with(scope)) continue;
    absl::StatusOr<Output> output = graph.FindOutput(tensor);
    if (!output.ok()) {
      graph.SetError(Annotate(output.status(), StrCat("collection '", key, "': ")));
      return {};
    }
    inputs.push_back(*output);
  }
  return inputs.empty() ? Output() : Merge(inputs, name, {}, at);
}

}  // namespace sluice::summary
