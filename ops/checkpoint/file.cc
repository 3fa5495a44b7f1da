// Ops that handle whole files and names of files.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status Scalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return c.SetOutputs(PartialShape::Scalar());
}

OP(MatchingFiles, "Lists the files that match any of the patterns (`*`, `?`, `[…]`), sorted.")
    .Input("pattern", DT_STRING)
    .Output("filenames", DT_STRING)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(0, 1).status());
      return c.SetOutput(0, PartialShape::Vector());
    });

OP(ReadFile, "Reads a file.")
    .Input("filename", DT_STRING)
    .Output("contents", DT_STRING)
    .Shape(Scalars);

OP(ShardedFilename, "Returns \"<basename>-<shard>-of-<num_shards>\", with numbers of five digits.")
    .Input("basename", DT_STRING)
    .Input("shard", DT_INT32)
    .Input("num_shards", DT_INT32)
    .Output("filename", DT_STRING)
    .Shape(Scalars);

OP(ShardedFilespec, "Returns the pattern that matches the names from ShardedFilename.")
    .Input("basename", DT_STRING)
    .Input("num_shards", DT_INT32)
    .Output("filename", DT_STRING)
    .Shape(Scalars);

OP(WriteFile, "Writes `contents` to a file. Makes its folder if there is none.")
    .Input("filename", DT_STRING)
    .Input("contents", DT_STRING)
    .Stateful()
    .Shape(Scalars);

}  // namespace
}  // namespace sluice
