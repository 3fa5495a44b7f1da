// Ports for the servers of a test.
#ifndef SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
#define SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "gtest/gtest.h"

namespace sluice {

// A port of 127.0.0.1 that nobody listens at now. It lies below those that connections get: none
// takes it before the server does, or while a server that was killed starts again.
inline int FreePort() {
  thread_local std::mt19937 random{std::random_device()()};
  std::uniform_int_distribution<int> ports(10'000, 29'999);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int port = ports(random);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    close(fd);
    if (is_free) return port;
  }
  ADD_FAILURE() << "no free port";
  return 0;
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
