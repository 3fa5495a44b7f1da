// Calls the program "ip", with which tests create hosts from network namespaces. Needs root.
#ifndef SLUICE_TESTS_ENDTOEND_IP_H_
#define SLUICE_TESTS_ENDTOEND_IP_H_

#include <cstdio>
#include <string>

#include "graph/strings.h"

namespace sluice {

class Ip {
 public:
  // Runs "ip" with these arguments. Returns false, and sets why_not, if it fails.
  bool operator()(const std::string& words) {
    const std::string command = StrCat("/usr/sbin/ip ", words);
    FILE* told = popen((command + " 2>&1").c_str(), "r");
    if (told == nullptr) return false;
    std::string text;
    for (int c; (c = std::fgetc(told)) != EOF;) text += static_cast<char>(c == '\n' ? ' ' : c);
    if (pclose(told) == 0) return true;
    why_not_ = StrCat("'", command, "': ", text);
    return false;
  }
  // The message with which a test is skipped, with the command that failed.
  std::string why_not() const {
    return "NOT TESTED: there are no network namespaces here: " + why_not_;
  }

 private:
  std::string why_not_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_IP_H_
