// Makes bytes from a file valid bools. A bool with a byte other than 0 and 1 is undefined behavior.
//
// Thread safety: one thread at a time may use the tensor.
#ifndef SLUICE_GRAPH_TENSOR_BOOLS_H_
#define SLUICE_GRAPH_TENSOR_BOOLS_H_

#include <cstddef>

#include "graph/tensor/tensor.h"

namespace sluice {

// Replaces bytes other than 0 by 1 if the tensor is of type DT_BOOL. Writes only invalid bytes, so
// that the pages of a mapped file stay shared.
inline void FixBools(Tensor* tensor) {
  if (tensor->dtype() != DT_BOOL) return;
  auto* bytes = static_cast<unsigned char*>(tensor->raw());
  const size_t size = tensor->bytes();
  unsigned char all = 0;
  for (size_t i = 0; i < size; ++i) all |= bytes[i];
  if (all <= 1) return;
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] > 1) bytes[i] = 1;
  }
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_BOOLS_H_
