// Messages that are larger than one message of gRPC may be: they travel in pieces, and lie here
// while they do, on the server's side.
//
//   an answer    the server keeps it, and tells its name in the call's trailing metadata; the
//                caller asks for one piece after the other (kGetPiece)
//   a request    the caller sends its pieces (kPutPiece), then the call itself with the name in its
//                metadata
//
// Only callers that say that they know pieces (kKnowsPieces) get answers in pieces. A name is 16
// random bytes, so that nobody gets what another asked for. A parcel that nobody touches for a
// minute is dropped.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_PARCELS_H_
#define SLUICE_DISTRIBUTED_WIRE_PARCELS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/wire/rpc_call.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

inline constexpr char kGetPiece[] = "/sluice.Pieces/Get";
inline constexpr char kPutPiece[] = "/sluice.Pieces/Put";
// Metadata. Of a call: the caller knows pieces.
inline constexpr char kKnowsPieces[] = "sluice-pieces";
// Of a call: its request lies here. Of an answer: the same; behind the name, its bytes in decimal.
inline constexpr char kParcel[] = "sluice-parcel";
// A piece is not larger, so that two of them do not weigh on anybody.
inline constexpr uint64_t kMostPieceBytes = uint64_t{64} << 20;

// What is said before the bytes of a piece, or in place of them.
struct PieceHeader {
  static constexpr size_t kNameBytes = 16;
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // Get: of the piece; Put: of the whole parcel

  static std::string NewName();
  // A message of the header and the bytes.
  grpc::ByteBuffer Encode(std::vector<grpc::Slice> content = {}) const;
};

class Parcels {
 public:
  using Clock = std::chrono::steady_clock;
  // Requests of more bytes than `max_bytes` are refused.
  explicit Parcels(uint64_t max_bytes, Clock::duration kept_for = std::chrono::minutes(1));
  ~Parcels();
  Parcels(const Parcels&) = delete;
  Parcels& operator=(const Parcels&) = delete;

  // kGetPiece and kPutPiece. The parcels outlive the server that has them.
  std::vector<RpcMethod> Methods();
  // Keeps an answer; what its caller is told as kParcel.
  std::string Keep(const grpc::ByteBuffer& answer);
  // The request of that name, once all of it has come: FAILED_PRECONDITION before.
  absl::StatusOr<grpc::ByteBuffer> Take(const std::string& name);
  uint64_t bytes_kept();
  // Reads what Keep wrote.
  static absl::Status Parse(const std::string& told, std::string* name, uint64_t* bytes);

 private:
  struct Parcel {
    std::deque<grpc::Slice> slices;
    uint64_t begin = 0;  // of an answer: how much was fetched; these bytes are gone
    uint64_t end = 0;    // so many bytes have come
    uint64_t bytes = 0;  // in all
    Clock::time_point touched{};
  };
  absl::StatusOr<grpc::ByteBuffer> Get(grpc::ByteBuffer* request);
  absl::Status Put(grpc::ByteBuffer* request);
  Parcel* Touch(const std::string& name);  // null: none; mutex_ held
  void DropOld();

  const uint64_t max_bytes_;
  const Clock::duration kept_for_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Parcel> parcels_;  // by name; guarded by mutex_
  bool stopped_ = false;                   // guarded by mutex_
  std::thread dropper_;                    // from the first parcel on; guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_PARCELS_H_
