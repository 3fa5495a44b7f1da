// Serves a page for Prometheus: GET /metrics over HTTP, or HTTPS if there is a certificate.
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
  using Options = HttpPages::Options;
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Start(Options options,
                                                            std::function<std::string()> text) {
    absl::StatusOr<std::unique_ptr<HttpPages>> pages = HttpPages::Start(
        std::move(options), {{"/metrics", {"text/plain; version=0.0.4", std::move(text)}}});
    if (!pages.ok()) return pages.status();
    return std::unique_ptr<MetricsPage>(new MetricsPage(*std::move(pages)));
  }
  int port() const { return pages_->port(); }

 private:
  explicit MetricsPage(std::unique_ptr<HttpPages> pages) : pages_(std::move(pages)) {}
  const std::unique_ptr<HttpPages> pages_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_METRICS_PAGE_H_
