// Serves pages over HTTP, or over HTTPS if there is a certificate. It answers GET requests only,
// with one text per path.
//
// Limits: if too many connections are open, the oldest is closed, so idle ones block no client.
// Thread safety: all methods may be called from any thread. A thread of this object calls
// HttpPage::text.
#ifndef SLUICE_DISTRIBUTED_SERVER_HTTP_PAGES_H_
#define SLUICE_DISTRIBUTED_SERVER_HTTP_PAGES_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct MHD_Daemon;

namespace sluice {

struct HttpPage {
  std::string content_type;
  std::function<absl::StatusOr<std::string>()> text;  // an error is answered with 503
  bool needs_token = true;                            // whether a request must have Options::token
};

class HttpPages {
 public:
  struct Options {
    std::string bind = "127.0.0.1";  // an IPv4 address
    int port = 0;                    // 0: any free port
    std::string token;  // required as "Authorization: Bearer <token>", unless it is empty
    // PEM texts of a certificate and its key, for HTTPS. Empty: HTTP.
    std::string certificate, key;
  };
  // The keys of `pages` are paths: "/metrics". UNAVAILABLE if the port is taken or the certificate
  // cannot be used. INVALID_ARGUMENT if `bind` is not an address or `port` is above 65535.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Start(Options options,
                                                          std::map<std::string, HttpPage> pages);
  ~HttpPages();
  HttpPages(const HttpPages&) = delete;
  HttpPages& operator=(const HttpPages&) = delete;
  int port() const;

 private:
  friend struct HttpAnswers;
  HttpPages(Options options, std::map<std::string, HttpPage> pages)
      : options_(std::move(options)), pages_(std::move(pages)) {}

  const Options options_;
  const std::map<std::string, HttpPage> pages_;
  std::deque<int> sockets_;  // open connections, the oldest first; used by this object's thread
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_HTTP_PAGES_H_
