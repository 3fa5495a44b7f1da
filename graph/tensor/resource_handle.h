// The element of a DT_RESOURCE tensor, which refers to an object of a device's resource manager.
//
// Thread safety: a value.
#ifndef SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
#define SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

// A kernel of this process may set `object` to the resource, whose ownership the handle then
// shares. For a handle from another process or a file, the resource is looked up by container, type
// and name.
struct ResourceHandle {
  struct Component {
    DataType dtype = DT_INVALID;
    PartialShape shape;
  };
  std::string device;
  std::string container;
  std::string name;
  uint64_t hash_code = 0;
  std::string type_name;  // as TensorFlow mangles it: "N10tensorflow3VarE"
  // A string constant with the name of the type of `object`. Comparing this pointer is faster than
  // comparing names. If it is null, type_name is compared.
  const char* type = nullptr;
  std::vector<Component> components;
  std::shared_ptr<void> object;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
