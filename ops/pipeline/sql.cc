// The op for datasets whose elements are the rows that an SQL query returns.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

OP(SqlDataset,
   "Reads the rows that `query` returns on an SQLite database (`driver_name` is \"sqlite\"), with "
   "a component per column. The database is only read.")
    .With(Inputs({"driver_name", "data_source_name", "query"}, DT_STRING))
    .With(MakesDataset)
    .With(ElementAttrs)
    .Stateful()
    .Shape([](ShapeContext& c) {
      for (int i = 0; i < 3; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return c.SetOutput(0, PartialShape::Scalar());
    });

OLDER_NAME(ExperimentalSqlDataset, SqlDataset);

}  // namespace
}  // namespace sluice
