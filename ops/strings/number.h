// Parses numbers as TensorFlow's StringToNumber and DecodeCSV do.
#ifndef SLUICE_OPS_STRINGS_NUMBER_H_
#define SLUICE_OPS_STRINGS_NUMBER_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// Parses `text`, which may have blanks at both ends. Returns false if it is not a number of the
// type. A floating-point number may be "inf", "nan" or hexadecimal. A floating-point number that is
// too large becomes infinite. An integer that is too large is not a number of the type.
bool ParseNumber(std::string_view text, float* value);
bool ParseNumber(std::string_view text, double* value);
bool ParseNumber(std::string_view text, int32_t* value);
bool ParseNumber(std::string_view text, int64_t* value);
bool ParseNumber(std::string_view text, uint32_t* value);
bool ParseNumber(std::string_view text, uint64_t* value);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_NUMBER_H_
