// Hash64 computes the 64-bit hash by which TensorFlow numbers loop frames and assigns strings to
// buckets.
//
// Thread safety: a pure function.
#ifndef SLUICE_GRAPH_HASH_H_
#define SLUICE_GRAPH_HASH_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// MurmurHash64A with TensorFlow's seed.
uint64_t Hash64(std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_GRAPH_HASH_H_
