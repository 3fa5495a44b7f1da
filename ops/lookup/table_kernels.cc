// Ops that make tables.
#include <functional>
#include <mutex>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/lookup/dense_table.h"
#include "ops/lookup/hash_table.h"

namespace sluice {
namespace {

using TablePointer = std::shared_ptr<LookupTable>;

absl::StatusOr<TableSpec> SpecOf(const KernelInit& init) {
  const auto shape = init.AttrOr<PartialShape>("value_shape", PartialShape::Scalar());
  if (!shape.IsFullyDefined()) {
    return InvalidArgument("Expected a fully defined value_shape, got ", shape.ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(TensorShape value_shape, TensorShape::Make(shape.dims()));
  return TableSpec{.key_type = init.attr<DataType>("key_dtype"),
                   .value_type = init.attr<DataType>("value_dtype"),
                   .value_shape = std::move(value_shape)};
}

// How a kind of table is made, in the first step that asks for it.
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
    if (of_tensors && !spec.value_shape.IsVector()) {
      return InvalidArgument("Default value must be a vector, got shape ",
                             spec.value_shape.ToString());
    }
    return TablePointer(std::make_shared<MutableHashTable>(std::move(spec)));
  }
  const bool of_tensors;
};

struct MakeDenseTable {
  explicit MakeDenseTable(const KernelInit& init)
      : buckets(init.attr<int64_t>("initial_num_buckets")),
        max_load_factor(init.attr<float>("max_load_factor")) {}
  absl::StatusOr<TablePointer> operator()(const KernelContext& c, TableSpec spec) const {
    if (c.num_inputs() < 2) {
      return InvalidArgument("Expected a deleted_key, which MutableDenseHashTable has not: use ",
                             "MutableDenseHashTableV2");
    }
    return DenseTable::Make({.spec = std::move(spec),
                             .empty_key = c.input(0),
                             .deleted_key = c.input(1),
                             .buckets = buckets,
                             .max_load_factor = max_load_factor});
  }
  const int64_t buckets;
  const float max_load_factor;
};

ResourceHandle HandleOf(const std::string& device, const ResourceName& name, TablePointer table) {
  ResourceHandle handle;
  handle.device = device;
  handle.container = name.container;
  handle.name = name.name;
  handle.type_name = LookupTable::kTypeName;
  handle.object = std::static_pointer_cast<LookupTable>(std::move(table));
  return handle;
}

// Output 0 names a table that is shared by name, or this kernel's alone.
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
  ~TableKernel() override {
    if (!name_.is_private || !is_made_) return;
    resources_->Delete<LookupTable>(name_.container, name_.name).IgnoreError();
  }

  absl::Status Compute(KernelContext& c) override {
    std::lock_guard lock(mutex_);
    if (!is_made_) SLUICE_RETURN_IF_ERROR(MakeTable(c));
    if (by_reference_) {
      c.set_output_ref(0, &strings_claim_, &strings_);
    } else {
      c.set_output(0, handle_);
    }
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  TableKernel(KernelInit& init, TableSpec spec, ResourceName name)
      : make_(init),
        spec_(std::move(spec)),
        name_(std::move(name)),
        device_(init.device_name()),
        by_reference_(IsRefType(init.output_type(0))),
        resources_(&init.resources()),
        strings_(Tensor::Vector<std::string>({name_.container, name_.name})) {}

  absl::Status MakeTable(KernelContext& c) {
    SLUICE_ASSIGN_OR_RETURN(TablePointer table,
                            resources_->LookupOrCreate<LookupTable>(
                                name_.container, name_.name, [&] { return make_(c, spec_); }));
    const TableSpec& has = table->spec();
    if (has.key_type != spec_.key_type || has.value_type != spec_.value_type) {
      return InvalidArgument("Conflicting key/value dtypes ", DataTypeName(spec_.key_type), "->",
                             DataTypeName(spec_.value_type), " with ", DataTypeName(has.key_type),
                             "-", DataTypeName(has.value_type), " for table ", name_.name);
    }
    handle_ = Tensor::Scalar(HandleOf(device_, name_, std::move(table)));
    is_made_ = true;
    return absl::OkStatus();
  }

  const M make_;
  const TableSpec spec_;
  const ResourceName name_;
  const std::string device_;
  const bool by_reference_;
  ResourceManager* const resources_;
  Claim strings_claim_;
  Tensor strings_;  // never changed once made; the claim goes with references to it
  std::mutex mutex_;
  Tensor handle_;         // guarded by mutex_
  bool is_made_ = false;  // guarded by mutex_
};

// A new table each time, which lives as long as its handle.
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
    c.set_output(0, Tensor::Scalar(HandleOf(device_, {.name = spec_.name}, std::move(table))));
    return absl::OkStatus();
  }

 private:
  AnonymousTableKernel(KernelInit& init, TableSpec spec)
      : make_(init), spec_(std::move(spec)), device_(init.device_name()) {}
  const M make_;
  const TableSpec spec_;
  const std::string device_;
};

// Combinations of types as TensorFlow's: keys, values.
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
