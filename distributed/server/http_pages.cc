#include "distributed/server/http_pages.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>
#include <utility>
#include <vector>

#include "distributed/security/security.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kOpenConnections = 48;
// The limit of connections in the HTTP library. It is larger than kOpenConnections, because a
// closed connection counts until the library notices that it is closed.
constexpr unsigned kConnectionLimit = 64;
constexpr unsigned kIdleSeconds = 10;

int SocketOf(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

}  // namespace

// The callbacks of libmicrohttpd.
struct HttpAnswers {
  static void ConnectionChanged(void* self, MHD_Connection* connection, void** /*state*/,
                                MHD_ConnectionNotificationCode change) {
    std::deque<int>& sockets = static_cast<HttpPages*>(self)->sockets_;
    if (change == MHD_CONNECTION_NOTIFY_CLOSED) {
      std::erase(sockets, SocketOf(connection));
      return;
    }
    sockets.push_back(SocketOf(connection));
    if (sockets.size() <= kOpenConnections) return;
    shutdown(sockets.front(), SHUT_RDWR);
    sockets.pop_front();
  }

  static MHD_Result Answer(void* self, MHD_Connection* connection, const char* url,
                           const char* method, const char* /*version*/, const char* /*upload*/,
                           size_t* /*upload_size*/, void** /*state*/) {
    const auto& page = *static_cast<const HttpPages*>(self);
    if (std::string_view(method) != "GET") {
      return Send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kPlain, "");
    }
    const auto found = page.pages_.find(url);
    if (found == page.pages_.end()) {
      std::string all = "see";
      for (const auto& [path, unused] : page.pages_) StrAppend(&all, " ", path);
      return Send(connection, MHD_HTTP_NOT_FOUND, kPlain, all + "\n");
    }
    const char* given =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (found->second.needs_token && !page.options_.token.empty() &&
        !IsToken(given == nullptr ? "" : given, "Bearer " + CurrentToken(page.options_.token))) {
      return Send(connection, MHD_HTTP_UNAUTHORIZED, kPlain, "");
    }
    const absl::StatusOr<std::string> text = found->second.text();
    if (text.ok()) return Send(connection, MHD_HTTP_OK, found->second.content_type, *text);
    return Send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kPlain,
                StrCat(ToStd(text.status().message()), "\n"));
  }

  static MHD_Result Send(MHD_Connection* connection, unsigned code, const std::string& content_type,
                         const std::string& text) {
    MHD_Response* response = MHD_create_response_from_buffer(
        text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type.c_str());
    const MHD_Result queued = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return queued;
  }

  static constexpr char kPlain[] = "text/plain";
};

absl::StatusOr<std::unique_ptr<HttpPages>> HttpPages::Start(Options options,
                                                            std::map<std::string, HttpPage> pages) {
  SLUICE_INVALID_IF(options.port < 0 || options.port > UINT16_MAX,
                    "HTTP: expected a port from 0 to 65535, got ", options.port);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(options.port));
  SLUICE_INVALID_IF(inet_pton(AF_INET, options.bind.c_str(), &address.sin_addr) != 1,
                    "HTTP: expected an IPv4 address to listen on, got '", options.bind, "'");
  std::unique_ptr<HttpPages> page(new HttpPages(std::move(options), std::move(pages)));
  unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD;
  std::vector<MHD_OptionItem> tls;
  const Options& set = page->options_;
  if (!set.certificate.empty()) {
    flags |= MHD_USE_TLS;
    tls.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(set.certificate.c_str())});
    tls.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(set.key.c_str())});
  }
  tls.push_back({MHD_OPTION_END, 0, nullptr});
  page->daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &HttpAnswers::Answer, page.get(),
                                   MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
                                   kConnectionLimit, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
                                   MHD_OPTION_NOTIFY_CONNECTION, &HttpAnswers::ConnectionChanged,
                                   page.get(), MHD_OPTION_ARRAY, tls.data(), MHD_OPTION_END);
  if (page->daemon_ != nullptr) return page;
  return absl::UnavailableError(
      StrCat("HTTP: cannot listen on ", page->options_.bind, ":", page->options_.port));
}

HttpPages::~HttpPages() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

int HttpPages::port() const {
  const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
  return info == nullptr ? 0 : info->port;
}

}  // namespace sluice
