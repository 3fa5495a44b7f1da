// Serves a page for Prometheus: GET /metrics over HTTP, or HTTPS if there is a certificate.
//
// Limits: if too many connections are open, the oldest is closed, so idle ones keep nobody out.
// Thread safety: all methods may be called from any thread. The page has a thread of its own, which
// calls `text`.
#ifndef SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_
#define SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct MHD_Daemon;

namespace sluice {

class MetricsPage {
 public:
  struct Options {
    std::string bind = "127.0.0.1";  // an IPv4 address
    int port = 0;                    // 0: any free port
    std::string token;  // required as "Authorization: Bearer <token>", unless it is empty
    // PEM texts of a certificate and its key, for HTTPS. Empty: HTTP.
    std::string certificate, key;
  };
  // UNAVAILABLE if the port is taken or the certificate cannot be used. INVALID_ARGUMENT if `bind`
  // is not an address.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Start(Options options,
                                                            std::function<std::string()> text);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;
  int port() const;

 private:
  friend struct MetricsPageAnswers;
  MetricsPage(Options options, std::function<std::string()> text)
      : options_(std::move(options)), text_(std::move(text)) {}

  const Options options_;
  const std::function<std::string()> text_;
  std::deque<int> sockets_;  // of the open connections, by age. Only the page's thread uses it
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_
