// Declares AttrValue, the value of a node's attribute: TensorFlow's AttrValue as a C++ variant.
#ifndef SLUICE_GRAPH_OP_ATTR_H_
#define SLUICE_GRAPH_OP_ATTR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct FunctionRef;  // a function's name and attributes
// Stands, in the body of a graph function, for the value of the function's attribute `name`.
struct AttrPlaceholder {
  std::string name;
  bool operator==(const AttrPlaceholder&) const = default;
};
using FunctionAttr = std::shared_ptr<const FunctionRef>;

// monostate means that the value is not set. Lists are vectors. An empty list that is read from a
// GraphDef becomes a vector<std::string> if no op declares the attribute, because a GraphDef does
// not store the kind of an empty list.
using AttrValue =
    std::variant<std::monostate, std::string, int64_t, float, bool, DataType, PartialShape, Tensor,
                 FunctionAttr, AttrPlaceholder, std::vector<std::string>, std::vector<int64_t>,
                 std::vector<float>, std::vector<bool>, std::vector<DataType>,
                 std::vector<PartialShape>, std::vector<Tensor>, std::vector<FunctionAttr>>;

// Attributes by name. The map is ordered, so that everything computed from a graph (files, hashes,
// listings) is reproducible.
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

struct FunctionRef {
  std::string name;
  AttrMap attrs;
};

// Whether both have the same kind and value. Tensors are equal if their types, shapes and bits are.
// Two tensors of resource handles or variants are equal only if they share their elements.
bool AttrEquals(const AttrValue& a, const AttrValue& b);
bool AttrMapsEqual(const AttrMap& a, const AttrMap& b);
// Returns the value as error messages show it: "DT_FLOAT", "[2,?]", "\"SAME\"", "[1, 2]".
std::string AttrToString(const AttrValue& v);

// Null if the attribute is absent or of another kind.
template <typename T>
const T* FindAttr(const AttrMap& attrs, std::string_view name) {
  auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_OP_ATTR_H_
