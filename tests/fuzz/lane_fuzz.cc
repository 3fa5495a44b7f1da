// Sends arbitrary bytes over a lane, a connection between two processes of one host. They must be
// valid frames or end the connection, and must not make the receiver allocate memory for bytes that
// were only announced.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "distributed/lane/lane_socket.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  sluice::LaneSocket socket(ends[0], 1 << 20);
  std::thread writer([&] {
    for (size_t at = 0; at < size;) {
      const ssize_t n = send(ends[1], data + at, size - at, MSG_NOSIGNAL);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    shutdown(ends[1], SHUT_WR);
  });
  std::vector<sluice::LaneFrame> frames;
  std::string word;
  while (socket.Receive(&frames)) {
    for (const sluice::LaneFrame& frame : frames) socket.TakeGreeting(frame.text, &word);
    frames.clear();
  }
  socket.Shutdown();
  writer.join();
  close(ends[1]);
  return 0;
}
