// Simulates another host, for tests in which the network between two hosts is cut.
#ifndef SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_
#define SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_

#include <unistd.h>

#include <string>
#include <vector>

#include "graph/strings.h"
#include "tests/endtoend/ip.h"

namespace sluice {

// A network namespace with a link to the namespace of this process. Needs root.
class OtherHost {
 public:
  OtherHost() {
    is_there_ = ip_("netns add " + name_) &&
                ip_(StrCat("link add ", link_, " type veth peer name eth0 netns ", name_)) &&
                ip_(StrCat("addr add ", near(), "/30 dev ", link_)) &&
                ip_(StrCat("link set ", link_, " up")) &&
                ip_("route add unreachable " + network_) &&
                ip_(StrCat("-n ", name_, " addr add ", far(), "/30 dev eth0")) &&
                ip_(StrCat("-n ", name_, " link set eth0 up")) &&
                ip_(StrCat("-n ", name_, " link set lo up"));
  }
  ~OtherHost() {
    ip_("route del unreachable " + network_);
    ip_(StrCat("link del ", link_));
    ip_("netns del " + name_);
  }
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  bool is_there() const { return is_there_; }
  std::string why_not() const { return ip_.why_not(); }
  std::string near() const { return StrCat("10.231.", getpid() % 250, ".1"); }
  std::string far() const { return StrCat("10.231.", getpid() % 250, ".2"); }
  std::vector<std::string> exec() const { return {"/usr/sbin/ip", "netns", "exec", name_}; }
  void Cut() { ip_(StrCat("link set ", link_, " down")); }
  void Mend() { ip_(StrCat("link set ", link_, " up")); }

 private:
  const std::string name_ = StrCat("sluice", getpid());
  const std::string link_ = StrCat("sl", getpid());
  // This route is used while the link is down. Without it, packets would take the default route.
  const std::string network_ = StrCat("10.231.", getpid() % 250, ".0/30 metric 4000");
  Ip ip_;
  bool is_there_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_
