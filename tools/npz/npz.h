// NumPy's .npz files: zip archives whose members are arrays in .npy form.
//
// Thread safety: functions share nothing. Ownership: arrays hold their own bytes.
// Limits: what a file claims is checked against what it holds; memory grows with what is read.
// Errors: NOT_FOUND where a file cannot be opened; INVALID_ARGUMENT, with the file and the member,
// where its bytes are not
//   what NumPy writes, or hold Python objects.
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

// An array as it lies in a .npy file, in row-major order and little-endian.
struct NpyArray {
  // NumPy's type code without the byte order: "f4", "i8", "b1", "c8", "S12" (bytes), "U3" (UTF-32).
  std::string type;
  std::vector<int64_t> shape;
  std::string bytes;
};

// Size of an element in bytes, or 0 where `type` is none that is read here.
int64_t NpyItemSize(std::string_view type);

// The content of one .npy file, and back.
absl::StatusOr<NpyArray> ParseNpy(std::string_view content);
std::string FormatNpy(const NpyArray& array);

// Arrays by name (the member's name without ".npy").
absl::StatusOr<std::map<std::string, NpyArray>> ReadNpz(const std::string& path);

// Writes the arrays uncompressed; a file that was there is replaced.
absl::Status WriteNpz(const std::string& path, const std::map<std::string, NpyArray>& arrays);

}  // namespace sluice

#endif  // SLUICE_TOOLS_NPZ_NPZ_H_
