// Computes a number that is equal for datasets that are made in the same way, in every process.
#ifndef SLUICE_OPS_PIPELINE_DATASET_FINGERPRINT_H_
#define SLUICE_OPS_PIPELINE_DATASET_FINGERPRINT_H_

#include <cstdint>

#include "graph/function/library.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The fingerprint of the dataset in `tensor`. It depends on the ops that made the dataset, their
// attributes, the bodies of their functions in `library`, and the values of their inputs. It does
// not depend on the names of these ops' nodes and functions, on the seeds of these ops, or on the
// contents of files and resources. TensorFlow computes other numbers.
uint64_t DatasetFingerprint(const Tensor& tensor, const FunctionLibrary& library);

}  // namespace sluice

#endif  // SLUICE_OPS_PIPELINE_DATASET_FINGERPRINT_H_
