// Lookup tables: resources that map keys to values.
//
// Thread safety: all methods may be called from any thread. A call sees the table before or after
// every other call.
// Errors: INVALID_ARGUMENT if keys or values have the wrong shape, and the errors that subclasses
// name. The caller checks the types.
#ifndef SLUICE_OPS_LOOKUP_TABLE_H_
#define SLUICE_OPS_LOOKUP_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/tensor.h"
#include "ops/state/tuples.h"

namespace sluice {

struct TableSpec {
  std::string name;
  DataType key_type = DT_INVALID;
  DataType value_type = DT_INVALID;
  TensorShape key_shape;  // of one key: a scalar or a vector
  TensorShape value_shape;
};

class LookupTable : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow6lookup15LookupInterfaceE";
  explicit LookupTable(TableSpec spec) : spec_(std::move(spec)) {}
  const TableSpec& spec() const { return spec_; }

  virtual int64_t size() const = 0;
  // Writes the values of `keys` to `values`, which has the shape ValuesShape(keys). A key that is
  // not in the table has the value `default_value`. This is one value for all keys, or one for each
  // key.
  virtual absl::Status Find(const Tensor& keys, const Tensor& default_value,
                            Tensor* values) const = 0;
  // Adds keys, and replaces the values of keys that exist. If `keys` has equal keys, the last one
  // counts.
  virtual absl::Status Insert(const Tensor& keys, const Tensor& values) = 0;
  virtual absl::Status Remove(const Tensor& keys) = 0;
  // Replaces the contents.
  virtual absl::Status Import(const Tensor& keys, const Tensor& values) = 0;
  struct Contents {
    Tensor keys, values;
  };
  virtual absl::StatusOr<Contents> Export() const = 0;
  // Fills a table that can be filled only once. FAILED_PRECONDITION if it has other contents
  // already, or if equal keys have different values. INVALID_ARGUMENT for other kinds of tables.
  virtual absl::Status Initialize(const Tensor& keys, const Tensor& values);

  std::string DebugString() const override;

  // The shape of the tensor with the values of `keys`. The shape of `keys` ends with the shape of
  // one key. The result ends with the shape of one value instead.
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

// Copies a row of `elements` elements between tensors of one type.
inline void CopyRow(const Tensor& from, int64_t from_row, int64_t elements, Tensor* to,
                    int64_t to_row) {
  CopyElements(from, from_row * elements, elements, to, to_row * elements);
}
// Whether two rows of `elements` strings or fixed-size elements are equal byte by byte.
bool IsSameRow(const Tensor& a, int64_t a_row, const Tensor& b, int64_t b_row, int64_t elements);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_TABLE_H_
