// The elements of a dataset in a file, as TensorFlow's CacheDataset writes them.
//
// The file is a checkpoint with the key "<element>_<component>" for each tensor. The first complete
// reading writes it; later ones read it. Until then, a lock file keeps other readings from writing.
// Errors: ALREADY_EXISTS if the lock file exists; those of checkpoints.
#ifndef SLUICE_OPS_DATA_FILE_CACHE_H_
#define SLUICE_OPS_DATA_FILE_CACHE_H_

#include <cstddef>
#include <string>

#include "ops/data/dataset.h"

namespace sluice {

// A dataset of the elements of `input`, of `components` tensors each, cached under `prefix`.
DatasetPointer CachedInFile(const DatasetPointer& input, const std::string& prefix,
                            size_t components);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_FILE_CACHE_H_
