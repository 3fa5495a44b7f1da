// EmbeddingTableLookupAll, which looks up all fields of a model in embedding tables, and the ops of
// its gradient.
#include <numeric>

#include "graph/status.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "graph/build/scopes.h"
#include "ops/embedding/lookup_all_builders.h"
#endif

namespace sluice {
namespace {

constexpr const char* kFields =
    " The keys of all fields follow one another in `keys`: `sizes` has the number of keys of each "
    "field, or is empty if all fields have as many. `segments` has the row of each key, ascending "
    "within a field. Without segments, the keys of a field belong to rows 0, 1, 2, … `weights` "
    "has the factor of each key. It is empty if all are 1.";

void DescribesFields(OpDefBuilder& op) {
  op.Input("keys", "Tkeys")
      .Input("sizes", DT_INT64)
      .Input("segments", DT_INT32)
      .Input("weights", DT_FLOAT);
}

void FieldAttrs(OpDefBuilder& op) {
  op.Attr("N", IntAttr().Min(1))
      .Attr("dims", IntListAttr().Min(1))
      .Attr("combiners", StringListAttr())
      .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}))
      .Attr("Tkeys", TypeAttr(IndexTypes()));
}

// Checks the attributes and the ranks of the inputs from `first` on, which describe the fields.
absl::Status CheckFields(const ShapeContext& c, int first) {
  const auto n = static_cast<size_t>(c.attr<int64_t>("N"));
  const auto& dims = c.attr<std::vector<int64_t>>("dims");
  const auto& combiners = c.attr<std::vector<std::string>>("combiners");
  SLUICE_INVALID_IF(dims.size() != n || combiners.size() != n, "Expected ", n,
                    " dims and combiners, got ", dims.size(), " and ", combiners.size());
  int64_t total = 0;
  for (const int64_t dim : dims) {
    SLUICE_INVALID_IF(dim < 1 || __builtin_add_overflow(total, dim, &total),
                      "Expected dims of at least 1 with a sum that fits int64, got ", dim);
  }
  for (const std::string& combiner : combiners) {
    SLUICE_INVALID_IF(combiner != "sum" && combiner != "mean" && combiner != "sqrtn",
                      "Expected the combiner sum, mean or sqrtn, got '", combiner, "'");
  }
  for (int i = first; i < first + 4; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  return absl::OkStatus();
}

int64_t TotalOf(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{0});
}

// Returns the number of rows if it is known, or -1.
int64_t RowsOfLookup(const ShapeContext& c, int first) {
  const auto n = c.attr<int64_t>("N");
  const std::optional<std::vector<int64_t>> given = c.InputInts(first + 4);
  if (given && given->size() == 1 && given->at(0) >= 0) return given->at(0);
  const PartialShape& keys = c.input(first);
  const PartialShape& segments = c.input(first + 2);
  const bool has_no_segments = segments.rank_known() && segments.dim(0) == 0;
  const bool is_known = has_no_segments && keys.rank_known() && keys.dim(0) > 0;
  return is_known && keys.dim(0) % n == 0 ? keys.dim(0) / n : -1;
}

OP(EmbeddingTableLookupAll,
   std::string(
       "Looks the keys of N fields up, each in its table, and combines the rows of the keys "
       "with the same row of the result: [num_rows, sum of dims], field after field. "
       "A combiner is the weighted sum (\"sum\"), this sum divided by the sum of the "
       "weights (\"mean\") or by the root of the sum of their squares (\"sqrtn\"). Rows "
       "without a key are zeros. If `num_rows` is -1, there is one row more than the "
       "largest segment.") +
       kFields)
    .Input("tables", "N*resource")
    .With(DescribesFields)
    .Input("num_rows", DT_INT64)
    .Output("rows", "T")
    .With(FieldAttrs)
    .Stateful()
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) -> absl::Status {
      const int first = c.InputRange("tables").second;
      SLUICE_RETURN_IF_ERROR(CheckFields(c, first));
      SLUICE_RETURN_IF_ERROR(c.WithRank(first + 4, 0).status());
      const auto& dims = c.attr<std::vector<int64_t>>("dims");
      for (int i = 0; i < first; ++i) {
        const HandleData* table = c.InputHandle(i);
        if (table == nullptr) continue;
        SLUICE_INVALID_IF(table->dtype != c.attr<DataType>("T"), "Expected a table of ",
                          DataTypeName(c.attr<DataType>("T")), " rows, got one of ",
                          DataTypeName(table->dtype));
        SLUICE_RETURN_IF_ERROR(table->shape.MergeWith(PartialShape({-1, dims[i]})).status());
      }
      return c.SetOutput(0, PartialShape({RowsOfLookup(c, first), TotalOf(dims)}));
    }) GRADIENT([](Backprop& b) {
      Graph& g = b.graph();
      // Runs beside the tables, because the sums of equal keys are smaller than the inputs that
      // they need from elsewhere.
      ColocateWith beside(g, b.node(), true);
      const Output grad = b.Of("rows"), keys = b.Value("keys"), sizes = b.Value("sizes");
      const Output segments = b.Value("segments"), weights = b.Value("weights");
      const auto dims = b.attr<std::vector<int64_t>>("dims");
      const auto combiners = b.attr<std::vector<std::string>>("combiners");
      std::vector<Operation> first;
      if (weights.shape() != PartialShape({0})) {
        const Output of_weights = EmbeddingTableLookupAllWeightsGrad(
            b.Values("tables"), grad, keys, sizes, segments, weights, dims, combiners);
        b.Into("weights", of_weights);
        // The gradient of the weights reads the rows, so it must run before any update of this
        // step.
        if (of_weights) first.push_back(of_weights);
      }
      ControlDependencies after(g, first);
      const EmbeddingTableLookupAllGradOutputs sums = EmbeddingTableLookupAllGrad(
          grad, keys, sizes, segments, weights, static_cast<int64_t>(dims.size()), dims, combiners);
      std::vector<Grad> grads;
      for (size_t i = 0; i < sums.values.size(); ++i) {
        grads.push_back(IndexedSlices{sums.values[i], sums.keys_of_values[i], Output()});
      }
      if (!grads.empty()) b.IntoList("tables", grads);
    });

OP(EmbeddingTableLookupAllGrad,
   std::string("The gradient of EmbeddingTableLookupAll with respect to its tables: for each field "
               "the different keys in the order of their first use, and the sums of their "
               "gradients in the order of the keys.") +
       kFields)
    .Input("grad", "T")
    .With(DescribesFields)
    .Output("values", "N*T")
    .Output("keys_of_values", "N*int64")
    .With(FieldAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      SLUICE_RETURN_IF_ERROR(CheckFields(c, 1));
      const auto& dims = c.attr<std::vector<int64_t>>("dims");
      const int n = static_cast<int>(dims.size());
      for (int i = 0; i < n; ++i) {
        SLUICE_RETURN_IF_ERROR(c.SetOutput(i, PartialShape({-1, dims[static_cast<size_t>(i)]})));
        SLUICE_RETURN_IF_ERROR(c.SetOutput(n + i, PartialShape({-1})));
      }
      return absl::OkStatus();
    });

OP(EmbeddingTableLookupAllWeightsGrad,
   std::string("The gradient of EmbeddingTableLookupAll with respect to its weights.") + kFields)
    .Input("tables", "N*resource")
    .Input("grad", "T")
    .With(DescribesFields)
    .Output("of_weights", DT_FLOAT)
    .With(FieldAttrs)
    .Stateful()
    .OnVariable(VariableUse::kReads)
    .Shape([](ShapeContext& c) -> absl::Status {
      const int grad = c.InputRange("tables").second;
      SLUICE_RETURN_IF_ERROR(c.WithRank(grad, 2).status());
      SLUICE_RETURN_IF_ERROR(CheckFields(c, grad + 1));
      return c.SetOutput(0, c.input(grad + 4));
    });

}  // namespace
}  // namespace sluice
