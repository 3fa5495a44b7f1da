// Ports for the servers of a test.
#ifndef SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
#define SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace sluice {

// A port of 127.0.0.1 that nobody listens at now.
inline int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_FREE_PORT_H_
