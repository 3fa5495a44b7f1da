// Serves pages for Prometheus and for health checks over HTTP, or HTTPS if there is a certificate:
// GET /metrics, /healthz and /readyz.
//
// /healthz and /readyz answer 200 "ok", or 503 and the reason. They need no token, because the
// programs that check health have none.
//
// Thread safety and errors: as HttpPages.
#ifndef SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_
#define SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "distributed/server/http_pages.h"

namespace sluice {

class MetricsPage {
 public:
  struct Options {
    HttpPages::Options http;  // /metrics requires its token
    // `live` and `ready` return OK, or the error that /healthz and /readyz report with 503.
    std::function<absl::Status()> live = [] { return absl::OkStatus(); };
    std::function<absl::Status()> ready = [] { return absl::OkStatus(); };
  };
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Start(Options options,
                                                            std::function<std::string()> text) {
    absl::StatusOr<std::unique_ptr<HttpPages>> pages = HttpPages::Start(
        std::move(options.http), {{"/healthz", State(std::move(options.live))},
                                  {"/metrics", {"text/plain; version=0.0.4", std::move(text)}},
                                  {"/readyz", State(std::move(options.ready))}});
    if (!pages.ok()) return pages.status();
    return std::unique_ptr<MetricsPage>(new MetricsPage(*std::move(pages)));
  }
  int port() const { return pages_->port(); }

 private:
  explicit MetricsPage(std::unique_ptr<HttpPages> pages) : pages_(std::move(pages)) {}
  static HttpPage State(std::function<absl::Status()> state) {
    const auto text = [state = std::move(state)]() -> absl::StatusOr<std::string> {
      const absl::Status now = state();
      if (!now.ok()) return now;
      return "ok\n";
    };
    return {"text/plain", text, /*needs_token=*/false};
  }

  const std::unique_ptr<HttpPages> pages_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_
