// Caches the elements of a dataset in a file, as TensorFlow's CacheDataset does.
//
// The file is a checkpoint with the key "<element>_<component>" for each tensor. The first complete
// reading of the dataset writes the file, and later ones read it. While a reading writes, a lock
// file keeps other readings from writing.
// Errors: ALREADY_EXISTS if the lock file exists; those of checkpoints (ops/checkpoint/bundle.h).
#ifndef SLUICE_OPS_DATA_FILE_CACHE_H_
#define SLUICE_OPS_DATA_FILE_CACHE_H_

#include <cstddef>
#include <string>

#include "ops/data/dataset.h"

namespace sluice {

// Returns a dataset of the elements of `input`, which have `components` tensors each. The files of
// the cache begin with `prefix`.
DatasetPointer CachedInFile(const DatasetPointer& input, const std::string& prefix,
                            size_t components);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_FILE_CACHE_H_
