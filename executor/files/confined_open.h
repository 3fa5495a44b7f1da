// Opens a file below a folder, whatever symbolic links other processes put there.
#ifndef SLUICE_EXECUTOR_FILES_CONFINED_OPEN_H_
#define SLUICE_EXECUTOR_FILES_CONFINED_OPEN_H_

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {

// Opens `path`, which is relative to the folder of the descriptor `root`. Returns a descriptor.
// After an error returns -1 and sets errno: EXDEV if the path leaves the folder. Reference:
// openat2(2).
inline int OpenBeneath(int root, const char* path, int flags) {
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? 0666 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof(how)));
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FILES_CONFINED_OPEN_H_
