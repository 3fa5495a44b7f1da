// Sends messages above the size limit of gRPC in chunks. The server stores such a chunked message
// during the transfer. The message is identified by a label, which has its name and size.
//
//   A response: the server stores it and sends its label in the call's trailing metadata.
//     The client fetches one chunk after the other (kGetChunk).
//   A request: the client sends the chunks (kPutChunk), then the call with the label in its
//     metadata.
//
// Only a client that announces support (kTakesChunks) gets chunked responses. The name of a message
// is 16 random bytes, so that a client cannot fetch messages of other clients. A message that is
// not used for a minute is dropped. The chunks of a request count towards the memory limit of the
// server. A chunk that would exceed this limit is rejected with RESOURCE_EXHAUSTED.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_RPC_CHUNKS_H_
#define SLUICE_DISTRIBUTED_RPC_CHUNKS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/message/rpc_call.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"
#include "graph/tensor/limited_heap.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

inline constexpr char kGetChunk[] = "/sluice.Pieces/Get";
inline constexpr char kPutChunk[] = "/sluice.Pieces/Put";
// Metadata of a call whose client accepts chunked responses.
inline constexpr char kTakesChunks[] = "sluice-pieces";
// Metadata of a call or response: the label of the message, which is stored on the server.
inline constexpr char kChunkedMessage[] = "sluice-parcel";
inline constexpr uint64_t kMaxChunkBytes = uint64_t{64} << 20;

// Says which bytes of which message a chunk has. It precedes the content of the chunk in a request
// of kPutChunk, and is the whole request of kGetChunk.
struct ChunkHeader {
  static constexpr size_t kNameBytes = 16;
  std::string name;  // of the message
  uint64_t offset = 0;
  uint64_t bytes = 0;  // kGetChunk: size of the chunk. kPutChunk: size of the whole message.

  static std::string NewName();
  grpc::ByteBuffer Encode(std::vector<grpc::Slice> content = {}) const;

  // The label of a message: its name in hexadecimal digits and its size.
  std::string ToLabel() const;
  static absl::StatusOr<ChunkHeader> FromLabel(std::string_view label);
};

class ChunkedMessages {
 public:
  using Clock = std::chrono::steady_clock;
  // Refuses requests of more than `max_bytes`. Drops messages that are not used for `kept_for`.
  explicit ChunkedMessages(uint64_t max_bytes, Clock::duration kept_for = std::chrono::minutes(1));
  ~ChunkedMessages();
  ChunkedMessages(const ChunkedMessages&) = delete;
  ChunkedMessages& operator=(const ChunkedMessages&) = delete;

  // Returns the methods kGetChunk and kPutChunk. This object must outlive the server that offers
  // them.
  std::vector<RpcMethod> Methods();
  // Stores a response and returns its label. RESOURCE_EXHAUSTED if the thread that drops unused
  // messages cannot be started.
  absl::StatusOr<std::string> Store(const grpc::ByteBuffer& response);
  // Removes the request with this label and returns it. ABORTED if there is none, for example
  // because it was dropped. FAILED_PRECONDITION if not all of its chunks have arrived.
  absl::StatusOr<grpc::ByteBuffer> Take(std::string_view label);
  uint64_t bytes_stored();

 private:
  struct Message {
    std::deque<grpc::Slice> slices;
    uint64_t begin = 0;  // bytes before it were fetched and dropped
    uint64_t end = 0;    // number of bytes that have arrived
    uint64_t bytes = 0;  // size of the whole message
    HeldBytes held;      // counts the arrived bytes of a request towards the memory limit
    Clock::time_point touched{};
  };
  absl::StatusOr<grpc::ByteBuffer> Get(grpc::ByteBuffer* request);
  absl::StatusOr<grpc::ByteBuffer> Put(grpc::ByteBuffer* request);
  // Finds a message, and restarts the time after which an unused message is dropped. ABORTED if
  // there is no such message. RESOURCE_EXHAUSTED if no thread could be started that drops messages.
  absl::StatusOr<Message*> Touch(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropOld();

  const uint64_t max_bytes_;
  const Clock::duration kept_for_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Message> messages_ ABSL_GUARDED_BY(mutex_);  // by name
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Thread dropper_ ABSL_GUARDED_BY(mutex_);  // runs DropOld; started with the first message
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_CHUNKS_H_
