// Writes data sets for tests.
#ifndef SLUICE_TESTS_ENDTOEND_IDX_FILE_H_
#define SLUICE_TESTS_ENDTOEND_IDX_FILE_H_

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace sluice {

// Writes an IDX file (demos/data/idx.h) of bytes, which `next` returns one by one.
inline void WriteIdx(const std::string& path, const std::vector<uint32_t>& dims,
                     const std::function<uint8_t()>& next) {
  std::string bytes = {0, 0, 8, static_cast<char>(dims.size())};
  size_t elements = 1;
  for (const uint32_t dim : dims) {
    elements *= dim;
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(dim >> shift));
  }
  for (size_t i = 0; i < elements; ++i) bytes.push_back(static_cast<char>(next()));
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_IDX_FILE_H_
