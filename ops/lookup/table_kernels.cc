// Kernels that make lookup tables.
#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/lookup/dense_table.h"
#include "ops/lookup/hash_table.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using TablePointer = std::shared_ptr<LookupTable>;

absl::StatusOr<TableSpec> SpecOf(const KernelInit& init) {
  SLUICE_ASSIGN_OR_RETURN(TensorShape value_shape, FixedShape(init.AttrOr<PartialShape>(
                                                       "value_shape", PartialShape::Scalar())));
  return TableSpec{.key_type = init.attr<DataType>("key_dtype"),
                   .value_type = init.attr<DataType>("value_dtype"),
                   .value_shape = std::move(value_shape)};
}

// Each Make… struct makes one kind of table. This happens in the first step that runs the node.
struct MakeHashTable {
  explicit MakeHashTable(const KernelInit&) {}
  absl::StatusOr<TablePointer> operator()(const KernelContext&, TableSpec spec) const {
    return TablePointer(std::make_shared<HashTable>(std::move(spec)));
  }
};

struct MakeMutableTable {
  explicit MakeMutableTable(const KernelInit& init)
      : of_tensors(init.node().op().find("OfTensors") != std::string::npos) {}
  absl::StatusOr<TablePointer> operator()(const KernelContext&, TableSpec spec) const {
    SLUICE_INVALID_IF(of_tensors && !spec.value_shape.IsVector(),
                      "Default value must be a vector, got shape ", spec.value_shape.ToString());
    return TablePointer(std::make_shared<MutableHashTable>(std::move(spec)));
  }
  const bool of_tensors;
};

struct MakeDenseTable {
  explicit MakeDenseTable(const KernelInit& init)
      : buckets(init.attr<int64_t>("initial_num_buckets")),
        max_load_factor(init.attr<float>("max_load_factor")) {}
  absl::StatusOr<TablePointer> operator()(const KernelContext& c, TableSpec spec) const {
    SLUICE_INVALID_IF(c.num_inputs() < 2,
                      "Unknown input name: deleted_key. MutableDenseHashTable lacks it, use "
                      "MutableDenseHashTableV2");
    return DenseTable::Make({.spec = std::move(spec),
                             .empty_key = c.input(0),
                             .deleted_key = c.input(1),
                             .buckets = buckets,
                             .max_load_factor = max_load_factor});
  }
  const int64_t buckets;
  const float max_load_factor;
};

// Outputs the name of a table, which it makes or finds in the first step.
template <typename M>
class TableKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(TableSpec spec, SpecOf(init));
    SLUICE_ASSIGN_OR_RETURN(
        const ResourceName name,
        ResourceNameOf(init, init.AttrOr<bool>("use_node_name_sharing", false)));
    spec.name = name.name;
    return std::unique_ptr<Kernel>(new TableKernel(init, std::move(spec), name));
  }

  absl::Status Compute(KernelContext& c) override {
    ScopedLock lock(&mutex_);
    if (named_ == nullptr) SLUICE_RETURN_IF_ERROR(MakeTable(c));
    return named_->Compute(c);
  }
  bool IsExpensive() const override { return false; }

 private:
  TableKernel(KernelInit& init, TableSpec spec, ResourceName name)
      : make_(init),
        spec_(std::move(spec)),
        name_(std::move(name)),
        device_(init.device_name()),
        by_reference_(IsRefType(init.output_type(0))),
        resources_(init.resources()) {}

  absl::Status MakeTable(KernelContext& c) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SLUICE_ASSIGN_OR_RETURN(TablePointer table,
                            resources_.LookupOrCreate<LookupTable>(
                                name_.container, name_.name, [&] { return make_(c, spec_); }));
    const TableSpec& has = table->spec();
    SLUICE_INVALID_IF(has.key_type != spec_.key_type || has.value_type != spec_.value_type,
                      "Conflicting key/value dtypes ", DataTypeName(spec_.key_type), "->",
                      DataTypeName(spec_.value_type), " with ", DataTypeName(has.key_type), "-",
                      DataTypeName(has.value_type), " for table ", name_.name);
    named_ = std::make_unique<NamedResourceKernel>(device_, name_, LookupTable::kTypeName,
                                                   by_reference_, std::move(table),
                                                   RemovalOf<LookupTable>(resources_, name_));
    return absl::OkStatus();
  }

  const M make_;
  const TableSpec spec_;
  const ResourceName name_;
  const std::string device_;
  const bool by_reference_;
  ResourceManager& resources_;
  Mutex mutex_;
  // Outputs the name of the table. It is null before the first step.
  std::unique_ptr<NamedResourceKernel> named_ ABSL_GUARDED_BY(mutex_);
};

// Makes a new table in each step. The table lives as long as its handle.
template <typename M>
class AnonymousTableKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(TableSpec spec, SpecOf(init));
    spec.name = init.name();
    return std::unique_ptr<Kernel>(new AnonymousTableKernel(init, std::move(spec)));
  }
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(TablePointer table, make_(c, spec_));
    return SetScalarOutput(c, OwningHandle(spec_.name, std::move(table)));
  }

 private:
  AnonymousTableKernel(KernelInit& init, TableSpec spec) : make_(init), spec_(std::move(spec)) {}
  const M make_;
  const TableSpec spec_;
};

// Pairs of a set of key types and a set of value types. TensorFlow supports each combination of
// both.
using Combinations = std::vector<std::pair<TypeSet, TypeSet>>;

template <typename K>
bool RegisterTables(std::initializer_list<const char*> ops, const Combinations& combinations) {
  for (const char* op : ops) {
    for (const auto& [keys, values] : combinations) {
      KernelRegistry::Global().Add({.op = op,
                                    .constraints = {{"key_dtype", keys}, {"value_dtype", values}},
                                    .make = &kernel_internal::MakeKernel<K>});
    }
  }
  return true;
}

const TypeSet kKeys = {DT_INT32, DT_INT64, DT_STRING};
const TypeSet kWideKeys = {DT_INT64, DT_STRING};
const Combinations kHashTables = {{kKeys, {DT_DOUBLE, DT_FLOAT, DT_INT32, DT_STRING}},
                                  {kWideKeys, {DT_INT64}},
                                  {{DT_STRING}, {DT_BOOL}}};
const Combinations kMutableTables = {{kKeys, {DT_DOUBLE, DT_FLOAT, DT_INT32}},
                                     {kWideKeys, {DT_INT64}},
                                     {{DT_INT64}, {DT_STRING, DT_VARIANT}},
                                     {{DT_STRING}, {DT_BOOL}}};
const Combinations kTensorTables = {{kKeys, {DT_DOUBLE, DT_FLOAT, DT_INT32}},
                                    {kWideKeys, {DT_INT64}},
                                    {{DT_INT64}, {DT_STRING}},
                                    {{DT_STRING}, {DT_BOOL}}};
const Combinations kDenseTables = {{kKeys, {DT_DOUBLE, DT_FLOAT, DT_INT32}},
                                   {kWideKeys, {DT_BOOL, DT_INT64}},
                                   {{DT_INT64}, {DT_VARIANT}},
                                   {{DT_STRING}, {DT_RESOURCE}}};

const bool kRegistered =
    RegisterTables<TableKernel<MakeHashTable>>({"HashTable", "HashTableV2"}, kHashTables) &&
    RegisterTables<AnonymousTableKernel<MakeHashTable>>({"AnonymousHashTable"}, kHashTables) &&
    RegisterTables<TableKernel<MakeMutableTable>>({"MutableHashTable", "MutableHashTableV2"},
                                                  kMutableTables) &&
    RegisterTables<AnonymousTableKernel<MakeMutableTable>>({"AnonymousMutableHashTable"},
                                                           kMutableTables) &&
    RegisterTables<TableKernel<MakeMutableTable>>(
        {"MutableHashTableOfTensors", "MutableHashTableOfTensorsV2"}, kTensorTables) &&
    RegisterTables<AnonymousTableKernel<MakeMutableTable>>({"AnonymousMutableHashTableOfTensors"},
                                                           kTensorTables) &&
    RegisterTables<TableKernel<MakeDenseTable>>(
        {"MutableDenseHashTable", "MutableDenseHashTableV2"}, kDenseTables) &&
    RegisterTables<AnonymousTableKernel<MakeDenseTable>>({"AnonymousMutableDenseHashTable"},
                                                         kDenseTables);

}  // namespace
}  // namespace sluice
