// Finds free ports for the servers of a test.
#ifndef SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
#define SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "gtest/gtest.h"

namespace sluice {

// Returns a free port of 127.0.0.1. It is below the ports of outgoing connections, so none of these
// takes it before the server starts, or while a killed server restarts. Other tests do not take it
// either: this process holds the datagram port of the same number.
inline int FreePort() {
  thread_local std::mt19937 random{std::random_device()()};
  std::uniform_int_distribution<int> ports(10'000, 29'999);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(ports(random)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto takes = [&address](int fd) {
      return bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    };
    const int claim = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = takes(claim) && takes(fd);
    close(fd);
    if (is_free) return ntohs(address.sin_port);
    close(claim);
  }
  ADD_FAILURE() << "no free port";
  return 0;
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
