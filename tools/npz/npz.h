// NumPy's .npz files: zip archives whose members are arrays in .npy format.
//
// Thread safety: functions share nothing. Ownership: arrays own their bytes.
// Limits: all sizes in a file are checked against its content. Memory grows with the bytes that are
// read.
// Errors: NOT_FOUND if a file cannot be opened. INVALID_ARGUMENT, with file and member, if the
// bytes are not valid or contain Python objects. PERMISSION_DENIED or DATA_LOSS if a file cannot be
// written.
#ifndef SLUICE_TOOLS_NPZ_NPZ_H_
#define SLUICE_TOOLS_NPZ_NPZ_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

// An array of a .npy file, in row-major order and little-endian.
struct NpyArray {
  // NumPy's type code without the byte order: "f4", "i8", "b1", "c8", "S12" (bytes), "U3" (UTF-32).
  std::string type;
  std::vector<int64_t> shape;
  std::string bytes;
};

// Size of an element in bytes, or 0 if `type` is not supported.
int64_t NpyItemSize(std::string_view type);

// Parses and writes the content of one .npy file.
absl::StatusOr<NpyArray> ParseNpy(std::string_view content);
std::string FormatNpy(const NpyArray& array);

// Arrays by name (the member's name without ".npy").
absl::StatusOr<std::map<std::string, NpyArray>> ReadNpz(const std::string& path);

// Writes the arrays uncompressed. Replaces an existing file.
absl::Status WriteNpz(const std::string& path, const std::map<std::string, NpyArray>& arrays);

}  // namespace sluice

#endif  // SLUICE_TOOLS_NPZ_NPZ_H_
