#include "tools/commands/file_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "executor/files/file_policy.h"

ABSL_FLAG(std::string, file_root, "", "server: clients use only files in this folder");
ABSL_FLAG(bool, no_files, false, "server: clients use no files");
ABSL_FLAG(bool, special_files, false, "server: clients may open FIFOs and devices");
ABSL_FLAG(bool, mapped_files, false,
          "server: clients may map files (ImmutableConst); a damaged one ends the server");

namespace sluice {

absl::Status SetFilePolicyFromFlags() {
  return SetFilePolicy({.files = !absl::GetFlag(FLAGS_no_files),
                        .root = absl::GetFlag(FLAGS_file_root),
                        .special_files = absl::GetFlag(FLAGS_special_files),
                        .mapped_files = absl::GetFlag(FLAGS_mapped_files)});
}

}  // namespace sluice
