// Programs that tests start, look at and kill.
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
  // What it writes, to either stream, comes through a pipe. It reads from a pipe in which nothing
  // comes, and which ends with CloseInput.
  explicit Program(const std::vector<std::string>& arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads until the output has `text`, or the program has ended: then false.
  bool WaitForOutput(const std::string& text);
  // Reads until it ends or the time is over: then nullopt. Its exit status, negative: the signal
  // that ended it.
  std::optional<int> WaitForEnd(std::chrono::milliseconds most);
  int WaitForEnd();
  // Reads from whichever tells something or ends. False where all have ended, or the time is over.
  static bool ReadAny(const std::vector<Program*>& programs,
                      std::chrono::steady_clock::time_point deadline);
  // All was read that it ever writes.
  bool at_end() const { return at_end_ || pid_ <= 0; }
  void Signal(int signal);
  void CloseInput();
  const std::string& output() const { return output_; }

 private:
  // False at the end of the output, or when the time is over.
  bool Read(std::optional<std::chrono::steady_clock::time_point> deadline);
  // What is there, once there is something.
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
