// Numbers as text, read as TensorFlow's StringToNumber and DecodeCSV read them.
#ifndef SLUICE_OPS_STRINGS_NUMBER_H_
#define SLUICE_OPS_STRINGS_NUMBER_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// False where the text (blanks around it apart) is no number of the type. Floating numbers may be
// "inf", "nan" and hexadecimal; what is too large is infinite.
bool ParseNumber(std::string_view text, float* value);
bool ParseNumber(std::string_view text, double* value);
bool ParseNumber(std::string_view text, int32_t* value);
bool ParseNumber(std::string_view text, int64_t* value);
bool ParseNumber(std::string_view text, uint32_t* value);
bool ParseNumber(std::string_view text, uint64_t* value);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_NUMBER_H_
