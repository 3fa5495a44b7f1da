// Reads images and labels in the IDX format of MNIST and similar data sets, plain or
// gzip-compressed.
//
// Format: two zero bytes, a type byte (8 = uint8), the number of dimensions, their sizes as
// big-endian 32-bit integers, then the elements in row-major order.
#ifndef SLUICE_DEMOS_DATA_IDX_H_
#define SLUICE_DEMOS_DATA_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice::demos {

// Reads a uint8 tensor. NOT_FOUND if the file does not exist, DATA_LOSS if it is damaged or no IDX
// file of uint8, RESOURCE_EXHAUSTED if there is no memory for it.
absl::StatusOr<Tensor> ReadIdx(const std::string& path);

struct Dataset {
  Tensor images;  // float [n, height, width, 1], 0 to 1
  Tensor labels;  // int32 [n]
};

struct TrainAndTest {
  Dataset train;
  Dataset test;
};

// Reads the four files of Debian's package dataset-fashion-mnist. If they are missing, the error
// says how to install them.
absl::StatusOr<TrainAndTest> LoadFashionMnist(const std::string& folder);

// Returns the images and labels at the indices `rows`, in this order.
Dataset Gather(const Dataset& data, absl::Span<const int64_t> rows);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_DATA_IDX_H_
