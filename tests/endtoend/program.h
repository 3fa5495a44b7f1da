// Program starts a program for a test, reads its output, and sends it signals.
#ifndef SLUICE_TESTS_ENDTOEND_PROGRAM_H_
#define SLUICE_TESTS_ENDTOEND_PROGRAM_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Thread safety: none. The destructor kills a program that still runs.
class Program {
 public:
  // Starts the program. Both output streams are read through a pipe. Its input is an empty pipe,
  // which CloseInput closes.
  explicit Program(const std::vector<std::string>& arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads until the output contains `text`. False if the program ends before.
  bool WaitForOutput(const std::string& text);
  // Reads until the program ends, and returns its exit status, negative for a signal. Nullopt after
  // the timeout.
  std::optional<int> WaitForEnd(std::chrono::milliseconds most);
  int WaitForEnd();
  // Waits until one of the programs writes or ends, and reads its output. False if all have ended,
  // or at the deadline.
  static bool ReadAny(const std::vector<Program*>& programs,
                      std::chrono::steady_clock::time_point deadline);
  // Whether all output of the program has been read.
  bool at_end() const { return at_end_ || pid_ <= 0; }
  void Signal(int signal);
  void CloseInput();
  const std::string& output() const { return output_; }

 private:
  // False at the end of the output or at the deadline.
  bool Read(std::optional<std::chrono::steady_clock::time_point> deadline);
  // Reads the available output; waits until there is some.
  bool ReadSome();
  int Reap();

  pid_t pid_ = -1;
  int pipe_ = -1;
  int input_ = -1;
  bool at_end_ = false;
  std::string output_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_PROGRAM_H_
