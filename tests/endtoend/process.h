// Forks processes from a test, as the tasks of a cluster on the loopback interface.
#ifndef SLUICE_TESTS_ENDTOEND_PROCESS_H_
#define SLUICE_TESTS_ENDTOEND_PROCESS_H_

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace sluice {

// A child process with a pipe in each direction. Must be created before this process has threads.
class Process {
 public:
  using Body = std::function<absl::Status(Process&)>;
  explicit Process(const Body& body) {
    int down[2], up[2];
    EXPECT_EQ(pipe(down), 0);
    EXPECT_EQ(pipe(up), 0);
    pid_ = fork();
    if (pid_ == 0) {
      in_ = down[0];
      out_ = up[1];
      const absl::Status status = body(*this);
      if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
      _exit(status.ok() ? 0 : 1);
    }
    close(down[0]);
    close(up[1]);
    in_ = up[0];
    out_ = down[1];
  }
  // False if the other side has ended.
  bool Read(void* data, size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t n = read(in_, at, size);
      if (n <= 0) return false;
      at += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  bool Write(const void* data, size_t size) {
    return write(out_, data, size) == static_cast<ssize_t>(size);
  }
  // For a child: sends a byte to the parent and waits for a byte from the parent. The children wait
  // for each other if the parent reads from all of them before it writes to one. False if the
  // parent has ended.
  bool Meet() {
    char byte = 0;
    return Write(&byte, 1) && Read(&byte, 1);
  }
  void Kill() { kill(pid_, SIGKILL); }
  int Wait() {
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_;
  int in_;
  int out_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_PROCESS_H_
