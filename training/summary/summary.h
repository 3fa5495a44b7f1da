// Adds summary ops, whose values TensorBoard shows. Names, tags, scopes and collections are those
// of tf.compat.v1.summary.
//
//   summary::Scalar("loss", loss);
//   summary::Histogram("weights", w);
//   Output all = summary::MergeAll(g);      // fetch it, and give it to a SummaryFileWriter
//
// A summary is a string tensor with a serialized Summary message. A tag is the op's name with its
// scopes; characters that are not valid in names become '_'.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the nodes.
// Errors: stay in the graph (Graph::status), and the result is then an invalid handle. A histogram
// of NaN or infinity ends the step with INVALID_ARGUMENT.
#ifndef SLUICE_TRAINING_SUMMARY_SUMMARY_H_
#define SLUICE_TRAINING_SUMMARY_SUMMARY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/format/messages.h"
#include "graph/ir/graph.h"

namespace sluice::summary {

// The default collection of summaries, which MergeAll reads.
inline constexpr const char* kSummaries = "summaries";

struct Options {
  // Collections that get the summary.
  std::vector<std::string> collections = {kSummaries};
  // The group in which TensorBoard shows the summary. It precedes all scopes in the tag.
  std::string family = "";
};

// Summarizes a number, which TensorBoard shows as a point of a curve. `value` has one element of
// any numeric type.
Output Scalar(std::string_view name, Output value, const Options& options = {},
              At at = At::current());
// Summarizes the distribution of all elements of `values`.
Output Histogram(std::string_view name, Output values, const Options& options = {},
                 At at = At::current());

// Summarizes images [batch, height, width, channels], with 1 (grey), 3 (RGB) or 4 (RGBA) channels.
// Only the first `max_outputs` of the batch are kept. uint8 values are shown as they are; other
// types are scaled to the visible range.
Output Image(std::string_view name, Output images, int max_outputs = 3, const Options& options = {},
             At at = At::current());

// Summarizes sounds: `samples` is [batch, frames] or [batch, frames, channels], float in [-1, 1].
// `sample_rate` is in hertz. Only the first `max_outputs` of the batch are kept.
Output Audio(std::string_view name, Output samples, float sample_rate, int max_outputs = 3,
             const Options& options = {}, At at = At::current());
// Summarizes strings. TensorBoard shows them as Markdown, and vectors and matrices as tables.
Output Text(std::string_view name, Output text, const Options& options = {}, At at = At::current());
// Summarizes any tensor for the TensorBoard plugin that `metadata` names.
Output Tensor(std::string_view name, Output tensor, const pb::SummaryMetadata& metadata,
              const Options& options = {}, At at = At::current());

// Returns one summary with the values of all `inputs`. It is added only to `collections`.
Output Merge(const OutputList& inputs, std::string_view name = "",
             const std::vector<std::string>& collections = {}, At at = At::current());
// Merges all summaries of the collection whose names start with `scope`. Returns an invalid handle,
// without an error, if there are none.
Output MergeAll(Graph& graph, std::string_view key = kSummaries, std::string_view scope = "",
                std::string_view name = "", At at = At::current());

}  // namespace sluice::summary

#endif  // SLUICE_TRAINING_SUMMARY_SUMMARY_H_
