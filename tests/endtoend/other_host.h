// Another host, for tests of what happens when the network between two is cut.
#ifndef SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_
#define SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "graph/strings.h"

namespace sluice {

// A network namespace with a link to this one; needs root.
class OtherHost {
 public:
  OtherHost() {
    is_there_ = Ip("netns add " + name_) &&
                Ip(StrCat("link add ", link_, " type veth peer name eth0 netns ", name_)) &&
                Ip(StrCat("addr add ", near(), "/30 dev ", link_)) &&
                Ip(StrCat("link set ", link_, " up")) && Ip("route add unreachable " + network_) &&
                Ip(StrCat("-n ", name_, " addr add ", far(), "/30 dev eth0")) &&
                Ip(StrCat("-n ", name_, " link set eth0 up")) &&
                Ip(StrCat("-n ", name_, " link set lo up"));
  }
  ~OtherHost() {
    Ip("route del unreachable " + network_);
    Ip(StrCat("link del ", link_));
    Ip("netns del " + name_);
  }
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  bool is_there() const { return is_there_; }
  // Where it is not: what a test that is skipped says.
  std::string why_not() const {
    return "NOT TESTED: there are no network namespaces here: " + why_not_;
  }
  std::string near() const { return StrCat("10.231.", getpid() % 250, ".1"); }
  std::string far() const { return StrCat("10.231.", getpid() % 250, ".2"); }
  std::vector<std::string> exec() const { return {"/usr/sbin/ip", "netns", "exec", name_}; }
  void Cut() { Ip(StrCat("link set ", link_, " down")); }
  void Mend() { Ip(StrCat("link set ", link_, " up")); }

 private:
  bool Ip(const std::string& words) {
    const std::string command = StrCat("/usr/sbin/ip ", words);
    FILE* told = popen((command + " 2>&1").c_str(), "r");
    if (told == nullptr) return false;
    std::string text;
    for (int c; (c = std::fgetc(told)) != EOF;) text += static_cast<char>(c == '\n' ? ' ' : c);
    if (pclose(told) == 0) return true;
    why_not_ = StrCat("'", command, "': ", text);
    return false;
  }

  const std::string name_ = StrCat("sluice", getpid());
  const std::string link_ = StrCat("sl", getpid());
  // Without the link: else packets would go to whoever is behind the default route.
  const std::string network_ = StrCat("10.231.", getpid() % 250, ".0/30 metric 4000");
  std::string why_not_;
  bool is_there_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_OTHER_HOST_H_
