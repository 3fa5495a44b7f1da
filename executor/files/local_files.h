// The local file system.
#ifndef SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_
#define SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_

#include <memory>

#include "executor/files/file_system.h"

namespace sluice {

// For paths without a scheme and for "file://". The host of a URI is ignored, as in TensorFlow.
std::unique_ptr<FileSystem> MakeLocalFiles();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_LOCAL_FILES_H_
