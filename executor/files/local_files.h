// The local file system.
#ifndef SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_
#define SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_

#include <memory>

#include "executor/files/file_system.h"

namespace sluice {

// Makes the file system for paths without a scheme and for "file://". It ignores the host of a URI,
// as TensorFlow does.
std::unique_ptr<FileSystem> MakeLocalFiles();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_
