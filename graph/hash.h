// The hash of bytes that TensorFlow numbers loop frames and puts strings in buckets with.
#ifndef SLUICE_GRAPH_HASH_H_
#define SLUICE_GRAPH_HASH_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// MurmurHash64A with TensorFlow's seed.
uint64_t Hash64(std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_GRAPH_HASH_H_
