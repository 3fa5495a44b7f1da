#include "demos/recommenders/export.h"

#include <fstream>

#include "demos/recommenders/model.h"
#include "fmt/format.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

// The feed of a placeholder for benchmarks/graphs/feed.h.
std::string FeedOf(Output placeholder) {
  if (!placeholder) return "";
  const PartialShape& shape = placeholder.shape();
  std::string size = fmt::format("{}", shape.dim(0));
  if (shape.rank() > 1) size += fmt::format("x{}", shape.dim(1));
  const bool is_label = placeholder.name().starts_with("labels");
  const std::string law = placeholder.dtype() == DT_INT64 ? StrCat("i64:", size, ":zipf(4000000)")
                          : is_label                      ? StrCat("f32:", size, ":uniform(2)")
                                                          : StrCat("f32:", size, ":normal");
  return StrCat(placeholder.name(), "=", law, ";");
}

absl::StatusOr<std::string> Export(const ModelKind& kind, const std::string& folder,
                                   int64_t batch) {
  Graph g;
  g.SetRandomSeed(1);
  const Features in = PlaceholdersOf(g, kind.log, batch);
  Tables tables(g, {});
  const Model model = kind.build(tables, in);
  const Operation train = Minimize(kind, model);
  const Operation init = InitializeVariables(g);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(const pb::GraphDef def, ExportGraphDef(g));
  std::ofstream file(StrCat(folder, "/", kind.name, ".pb"), std::ios::binary);
  file << def.SerializeAsString();
  file.close();
  if (!file) return absl::UnavailableError(StrCat("cannot write to '", folder, "'"));
  std::string feeds;
  for (const Output placeholder : {in.labels, in.numbers, in.words, in.user, in.item, in.category,
                                   in.past_items, in.past_categories}) {
    feeds += FeedOf(placeholder);
  }
  feeds.pop_back();
  return fmt::format("F\trecommenders\t{0}_b{1}\t{0}.pb\t{2}\t{3}\t{4}\t{5}\t1\tms\t0\t0\t-\n",
                     kind.name, batch, init.name(), feeds, model.loss.name(), train.name());
}

}  // namespace

absl::Status ExportGraphs(const std::string& folder, int64_t batch) {
  std::string manifest;
  for (const ModelKind& kind : ModelKinds()) {
    SLUICE_ASSIGN_OR_RETURN(const std::string line, Export(kind, folder, batch));
    manifest += line;
  }
  std::ofstream file(folder + "/recommenders.tsv");
  file << manifest;
  file.close();
  if (!file) return absl::UnavailableError(StrCat("cannot write to '", folder, "'"));
  return absl::OkStatus();
}

}  // namespace sluice::recommenders
