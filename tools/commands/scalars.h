// ScalarReader reads the scalar summaries of a folder's event files, to which a training may still
// write.
//
// Thread safety: none.
#ifndef SLUICE_TOOLS_COMMANDS_SCALARS_H_
#define SLUICE_TOOLS_COMMANDS_SCALARS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace sluice {

// Step and value.
using ScalarPoints = std::vector<std::pair<int64_t, double>>;

class ScalarReader {
 public:
  // `folder` need not exist yet.
  explicit ScalarReader(std::string folder) : folder_(std::move(folder)) {}
  // Reads the records that the files have got since the last call. A record that is not complete
  // yet is read by a later call. Returns the first error of a file, after it has read the others.
  absl::Status Refresh();
  // By tag. A curve has at most 1000 points: if there are more, every second one is removed.
  const std::map<std::string, ScalarPoints>& scalars() const { return scalars_; }

 private:
  absl::Status ReadFile(const std::string& path, int64_t* offset);
  void Add(const std::string& tag, int64_t step, double value);

  const std::string folder_;
  std::map<std::string, int64_t> offsets_;  // of the next record, by file
  std::map<std::string, ScalarPoints> scalars_;
};

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_SCALARS_H_
