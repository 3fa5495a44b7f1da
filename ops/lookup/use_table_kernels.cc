// Kernels that fill, read and change lookup tables.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/lookup/table.h"
#include "ops/lookup/text_table.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

// Returns the table in input 0. INVALID_ARGUMENT if the types of the other inputs and of the
// outputs differ from those that `inputs` and `outputs` return for the table.
absl::StatusOr<std::shared_ptr<LookupTable>> TableWith(
    const KernelContext& c, std::initializer_list<DataType (*)(const TableSpec&)> inputs,
    std::initializer_list<DataType (*)(const TableSpec&)> outputs) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<LookupTable> table, LookupNamed<LookupTable>(c, 0));
  std::vector<DataType> has, expected, expected_outputs;
  for (int i = 1; i < c.num_inputs(); ++i) has.push_back(c.input(i).dtype());
  const std::vector<DataType> has_outputs = OutputTypesFrom(c, 0);
  for (const auto type : inputs) expected.push_back(type(table->spec()));
  for (const auto type : outputs) expected_outputs.push_back(type(table->spec()));
  if (has == expected && has_outputs == expected_outputs) return table;
  const auto signature = [&](const std::vector<DataType>& in, const std::vector<DataType>& out) {
    return StrCat(c.input_is_ref(0) ? "string_ref" : "resource", in.empty() ? "" : ", ",
                  TypesText(in), "->", TypesText(out));
  };
  return InvalidArgument("Signature mismatch, have: ", signature(has, has_outputs),
                         " expected: ", signature(expected, expected_outputs));
}

DataType KeyOf(const TableSpec& spec) { return spec.key_type; }
DataType ValueOf(const TableSpec& spec) { return spec.value_type; }

absl::Status LookupTableFind(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {KeyOf, ValueOf}, {ValueOf}));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, table->ValuesShape(c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  return table->Find(c.input(1), c.input(2), out);
}

absl::Status LookupTableInsert(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {KeyOf, ValueOf}, {}));
  return table->Insert(c.input(1), c.input(2));
}

absl::Status LookupTableRemove(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {KeyOf}, {}));
  return table->Remove(c.input(1));
}

absl::Status LookupTableImport(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {KeyOf, ValueOf}, {}));
  return table->Import(c.input(1), c.input(2));
}

absl::Status LookupTableExport(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {}, {KeyOf, ValueOf}));
  SLUICE_ASSIGN_OR_RETURN(LookupTable::Contents contents, table->Export());
  c.set_output(0, std::move(contents.keys));
  c.set_output(1, std::move(contents.values));
  return absl::OkStatus();
}

absl::Status LookupTableSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, LookupNamed<LookupTable>(c, 0));
  return SetScalarOutput(c, table->size());
}

absl::Status InitializeTable(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, TableWith(c, {KeyOf, ValueOf}, {}));
  const Tensor& keys = c.input(1);
  const Tensor& values = c.input(2);
  SLUICE_RETURN_IF_ERROR(ExpectRank(keys, 1, "Keys must be a vector, but received shape"));
  SLUICE_RETURN_IF_ERROR(ExpectRank(values, 1, "Values must be a vector, but received shape"));
  SLUICE_INVALID_IF(keys.num_elements() != values.num_elements(),
                    "Keys and values must have the same size ", keys.num_elements(), " vs ",
                    values.num_elements());
  return table->Initialize(keys, values);
}

absl::StatusOr<TextTableOptions> TextOptionsOf(KernelInit& init) {
  const auto delimiter = init.attr<std::string>("delimiter");
  SLUICE_INVALID_IF(delimiter.size() != 1, "delimiter should be only 1 char");
  return TextTableOptions{.key_index = init.attr<int64_t>("key_index"),
                          .value_index = init.attr<int64_t>("value_index"),
                          .lines = init.attr<int64_t>("vocab_size"),
                          .delimiter = delimiter[0],
                          .offset = init.attr<int64_t>("offset")};
}

absl::Status InitializeTableFromTextFile(KernelContext& c,
                                         const Prepared<TextOptionsOf>& prepared) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, LookupNamed<LookupTable>(c, 0));
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "filename should be a single string, but got "));
  TextTableOptions options = *prepared;
  options.key_type = table->spec().key_type;
  options.value_type = table->spec().value_type;
  SLUICE_ASSIGN_OR_RETURN(const TextTable text,
                          ReadTextTable(c.input(1).scalar<std::string>(), options));
  return table->Initialize(text.keys, text.values);
}

KERNEL(InitializeTable, FunctionKernel<InitializeTable>);
KERNEL(InitializeTableFromTextFile, FunctionKernel<InitializeTableFromTextFile>);
KERNEL(InitializeTableFromTextFileV2, FunctionKernel<InitializeTableFromTextFile>);
KERNEL(InitializeTableV2, FunctionKernel<InitializeTable>);
KERNEL(LookupTableExport, FunctionKernel<LookupTableExport>);
KERNEL(LookupTableExportV2, FunctionKernel<LookupTableExport>);
KERNEL(LookupTableFind, FunctionKernel<LookupTableFind>);
KERNEL(LookupTableFindV2, FunctionKernel<LookupTableFind>);
KERNEL(LookupTableImport, FunctionKernel<LookupTableImport>);
KERNEL(LookupTableImportV2, FunctionKernel<LookupTableImport>);
KERNEL(LookupTableInsert, FunctionKernel<LookupTableInsert>);
KERNEL(LookupTableInsertV2, FunctionKernel<LookupTableInsert>);
KERNEL(LookupTableRemoveV2, FunctionKernel<LookupTableRemove>);
KERNEL(LookupTableSize, FunctionKernel<LookupTableSize>);
KERNEL(LookupTableSizeV2, FunctionKernel<LookupTableSize>);

}  // namespace
}  // namespace sluice
