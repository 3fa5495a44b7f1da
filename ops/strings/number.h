// Parses numbers as TensorFlow's StringToNumber and DecodeCSV do.
#ifndef SLUICE_OPS_STRINGS_NUMBER_H_
#define SLUICE_OPS_STRINGS_NUMBER_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// Ignores blanks around the text. Returns false if it is not a number of the type. A floating-point
// number may be "inf", "nan" or hexadecimal. Numbers that are too large become infinite.
bool ParseNumber(std::string_view text, float* value);
bool ParseNumber(std::string_view text, double* value);
bool ParseNumber(std::string_view text, int32_t* value);
bool ParseNumber(std::string_view text, int64_t* value);
bool ParseNumber(std::string_view text, uint32_t* value);
bool ParseNumber(std::string_view text, uint64_t* value);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_NUMBER_H_
