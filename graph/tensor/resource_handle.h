// Declares ResourceHandle, the element of a DT_RESOURCE tensor. It refers to a resource: an object
// with state, such as a variable or a queue, which a device's resource manager usually owns.
//
// Thread safety: concurrent reads are safe. A write needs exclusive access.
#ifndef SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
#define SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

// If `object` is not null, it is the resource, and the handle shares its ownership. If it is null,
// as in a handle from another process or a file, the resource manager looks up the resource by
// container, class and name.
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
  // The constant kTypeName of the class of `object`, or null. If this pointer equals the kTypeName
  // of the class that a kernel expects, the kernel need not compare type_name.
  const char* type = nullptr;
  std::vector<Component> components;
  std::shared_ptr<void> object;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_RESOURCE_HANDLE_H_
