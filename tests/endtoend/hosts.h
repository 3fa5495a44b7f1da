// Simulates several hosts and a switch between them, for tests of clusters.
#ifndef SLUICE_TESTS_ENDTOEND_HOSTS_H_
#define SLUICE_TESTS_ENDTOEND_HOSTS_H_

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <string>

#include "graph/strings.h"
#include "tests/endtoend/ip.h"

namespace sluice {

// Each host is a network namespace. It is linked to a bridge in another namespace, the switch.
// Needs root.
class Hosts {
 public:
  explicit Hosts(int count) : count_(count) { are_there_ = MakeSwitch() && MakeHosts(); }
  ~Hosts() {
    for (int i = 0; i < count_; ++i) ip_("netns del " + name(i));
    ip_("netns del " + switch_);
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  bool are_there() const { return are_there_; }
  std::string why_not() const { return ip_.why_not(); }
  static std::string Address(int host) { return StrCat("10.230.0.", host + 1); }
  // Moves the calling process, which must have no other threads, to `host`.
  bool Enter(int host) const {
    const int fd = open(StrCat("/run/netns/", name(host)).c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_there = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
    if (fd >= 0) close(fd);
    return is_there;
  }

 private:
  std::string name(int host) const { return StrCat("sluice", owner_, "_", host); }

  bool MakeSwitch() {
    return ip_("netns add " + switch_) &&
           ip_(StrCat("-n ", switch_, " link add bridge type bridge")) &&
           ip_(StrCat("-n ", switch_, " link set bridge up"));
  }

  bool MakeHosts() {
    for (int i = 0; i < count_; ++i) {
      const std::string link = StrCat("port", i), host = name(i);
      if (!ip_("netns add " + host) ||
          !ip_(StrCat("-n ", switch_, " link add ", link, " type veth peer name eth0 netns ",
                      host)) ||
          !ip_(StrCat("-n ", switch_, " link set ", link, " master bridge up")) ||
          !ip_(StrCat("-n ", host, " addr add ", Address(i), "/24 dev eth0")) ||
          !ip_(StrCat("-n ", host, " link set eth0 up")) ||
          !ip_(StrCat("-n ", host, " link set lo up"))) {
        return false;
      }
    }
    return true;
  }

  const int count_;
  const pid_t owner_ = getpid();  // children have the same hosts
  const std::string switch_ = StrCat("sluice", owner_, "_switch");
  Ip ip_;
  bool are_there_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_HOSTS_H_
