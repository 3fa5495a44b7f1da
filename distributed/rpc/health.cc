#include "distributed/rpc/health.h"

#include <string>
#include <string_view>

#include "distributed/message/bytes.h"

namespace sluice {
namespace {

// Tags of the protocol buffers: the service of a request (field 1, a string), and the status of a
// response (field 1, a varint).
constexpr char kService = 0x0a, kStatus = 0x08;

}  // namespace

bool IsAboutServer(const grpc::ByteBuffer& request) {
  constexpr size_t kMaxBytes = 127;  // so that the length of the name is one byte
  if (request.Length() > kMaxBytes) return false;
  const std::string text = TextOf(request);
  if (text.empty()) return true;
  for (const std::string_view service :
       {"", "tensorflow.MasterService", "tensorflow.WorkerService"}) {
    std::string field = {kService, static_cast<char>(service.size())};
    if (text == field.append(service)) return true;
  }
  return false;
}

grpc::ByteBuffer HealthResponse(Health health) {
  return BytesOf(std::string{kStatus, static_cast<char>(health)});
}

}  // namespace sluice
