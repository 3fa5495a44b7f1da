// The element of a DT_RESOURCE tensor: names an object of a device's resource manager.
#ifndef SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
#define SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

// A value type. `object` is set where the handle was made by a kernel of this process and owns (a
// share of) the resource itself; handles that came over a wire or from a file are looked up by
// (container, type, name).
struct ResourceHandle {
  struct Component {
    DataType dtype = DT_INVALID;
    PartialShape shape;
  };
  std::string device;
  std::string container;
  std::string name;
  uint64_t hash_code = 0;
  std::string type_name;  // "N10tensorflow3VarE" and the like
  // The constant that is the object's type's name, which is quicker to compare; null: compare
  // names.
  const char* type = nullptr;
  std::vector<Component> components;
  std::shared_ptr<void> object;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
