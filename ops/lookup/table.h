// Lookup tables: keys to values, as a resource that ops share.
//
// Thread safety: all methods from any thread; a call sees the table before or after another one,
// never in between.
// Errors: INVALID_ARGUMENT on keys and values of a wrong shape; those of subclasses. Types are
// checked by who calls.
#ifndef SLUICE_OPS_LOOKUP_TABLE_H_
#define SLUICE_OPS_LOOKUP_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct TableSpec {
  std::string name;
  DataType key_type = DT_INVALID;
  DataType value_type = DT_INVALID;
  TensorShape key_shape;  // of one key: a scalar, or a vector
  TensorShape value_shape;
};

class LookupTable : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow6lookup15LookupInterfaceE";
  explicit LookupTable(TableSpec spec) : spec_(std::move(spec)) {}
  const TableSpec& spec() const { return spec_; }

  virtual int64_t size() const = 0;
  // Writes the values of `keys` to `values`, which has the shape ValuesShape(keys); of keys that
  // are not there, `default_value`: one for all, or one for each.
  virtual absl::Status Find(const Tensor& keys, const Tensor& default_value,
                            Tensor* values) const = 0;
  // A key that is there gets the new value. Of equal keys the last counts.
  virtual absl::Status Insert(const Tensor& keys, const Tensor& values) = 0;
  virtual absl::Status Remove(const Tensor& keys) = 0;
  // Replaces everything.
  virtual absl::Status Import(const Tensor& keys, const Tensor& values) = 0;
  struct Contents {
    Tensor keys, values;
  };
  virtual absl::StatusOr<Contents> Export() const = 0;
  // For tables that get their contents once.
  virtual absl::Status Initialize(const Tensor& keys, const Tensor& values);

  std::string DebugString() const override;

  // `keys`' shape, with a value's in place of a key's.
  absl::StatusOr<TensorShape> ValuesShape(const Tensor& keys) const;

 protected:
  absl::Status CheckDefault(const Tensor& keys, const Tensor& default_value) const;
  absl::Status CheckValues(const Tensor& keys, const Tensor& values) const;
  int64_t CountOf(const Tensor& keys) const {
    return keys.num_elements() / std::max<int64_t>(1, spec_.key_shape.num_elements());
  }

 private:
  const TableSpec spec_;
};

// The `elements` elements of a row, from one tensor to another of the same type.
void CopyRow(const Tensor& from, int64_t from_row, int64_t elements, Tensor* to, int64_t to_row);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_TABLE_H_
