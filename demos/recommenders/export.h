// Exports the graphs of the models with their training ops, so that TensorFlow can run them.
#ifndef SLUICE_DEMOS_RECOMMENDERS_EXPORT_H_
#define SLUICE_DEMOS_RECOMMENDERS_EXPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace sluice::recommenders {

// Writes a GraphDef, <folder>/<model>.pb, for each model. Also writes recommenders.tsv, with one
// line per model in the form that benchmarks/versus/make_graphs.py describes. The features are
// placeholders. UNAVAILABLE if a file cannot be written.
absl::Status ExportGraphs(const std::string& folder, int64_t batch);

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_EXPORT_H_
