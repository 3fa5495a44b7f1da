// Coordinates programs of several frameworks that run the same case in turn.
#ifndef SLUICE_BENCHMARKS_GRAPHS_TURN_H_
#define SLUICE_BENCHMARKS_GRAPHS_TURN_H_

#include <cstdio>
#include <string>

namespace sluice {

// Announces the next case and waits for a line on the standard input, so that the controlling
// program can run another program first. Programs that use TensorFlow include this header too, and
// are compiled as C++17.
inline void AwaitTurn(const std::string& label) {
  std::printf("{\"next\":\"%s\"}\n", label.c_str());
  std::fflush(stdout);
  for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
}

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_TURN_H_
