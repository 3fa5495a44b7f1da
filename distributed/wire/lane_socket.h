// A connection between two processes of one user on one host: frames over a Unix socket, whose
// large bytes are not sent but fetched by the receiver, straight from the sender's memory.
//
// Why: between tasks of a host, gRPC over loopback costs more per message than most steps compute,
// and copies each tensor three times. Here a message is one system call a side, and a tensor one
// copy, from the sender's buffer into the receiver's tensor (peer_memory.h). Where the system does
// not let one process read another, the bytes go through the socket.
//
// Trust: both sides ask the kernel who the other is, and speak only with processes of their own
// user. What a peer sends is checked as what comes over a network is.
// Thread safety: Receive by one thread at a time, the rest from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_LANE_SOCKET_H_
#define SLUICE_DISTRIBUTED_WIRE_LANE_SOCKET_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "distributed/wire/peer_memory.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

struct LaneFrame {
  enum Kind : uint32_t {
    kHello = 1,  // text: what LaneSocket::Greeting writes
    kWelcome,    // likewise, and code: whether the server takes the caller
    kReady,      // calls may follow
    kRequest,    // text: path
    kResponse,   // code, and text: the error's message
    kCancel,     // the caller gave up
    kRelease,    // the large bytes of a frame of yours were fetched
    kPing,
    kPong,
  };
  static constexpr uint64_t kNoAnswer = 0;  // as a request's call: none is wanted

  Kind kind = kPing;
  uint64_t call = 0;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string text;
  grpc::ByteBuffer body;
};

class LaneSocket {
 public:
  // Takes over the descriptor of a connected socket. Of larger bodies, and of those that
  // no memory is left for, Receive gives only the code and text of RESOURCE_EXHAUSTED.
  explicit LaneSocket(int fd, uint64_t max_body_bytes = UINT64_MAX - 1);
  ~LaneSocket();
  LaneSocket(const LaneSocket&) = delete;
  LaneSocket& operator=(const LaneSocket&) = delete;

  int fd() const { return fd_; }
  // The process at the other end is this process's user's.
  bool PeerIsOwn() const;

  // Blocks while the peer reads nothing. False when the connection is broken, or `still` (asked in
  // the order in which frames go out) says that the frame is no longer wanted. Large bytes of the
  // body are kept until the peer has fetched them.
  bool Send(const LaneFrame& frame, const std::function<bool()>& still = nullptr);
  // The same, but kept until SendKept or the next Send; the caller sees to it that one comes.
  bool Keep(const LaneFrame& frame, const std::function<bool()>& still = nullptr);
  bool SendKept();
  // These unless they would block: sends what was kept; sends a ping.
  void TrySendKept();
  void TryPing();
  // What has come, at least one frame, once the descriptor is readable. False when the connection
  // has ended or what comes is no frame. Never waits for who sends.
  bool Receive(std::vector<LaneFrame>* frames);
  // Tells the peer what was fetched, if that is much. Little is told with the next frame. To be
  // called after Receive, once another thread may receive.
  void Release();
  // Something has come that was not received yet.
  bool HasInput() const;
  // Every Send and Receive fails from now on.
  void Shutdown();

  // The text of kHello and kWelcome: version, how to read this process's memory, and a word.
  static std::string Greeting(std::string_view word);
  // Reads the peer's; false where it speaks another version. Finds out what can be read of its
  // memory.
  bool TakeGreeting(std::string_view text, std::string* word);
  PeerMemory::Reach reach() const { return memory_.reach(); }
  // The peer said what it can read of this process's memory.
  void SetPeersReach(PeerMemory::Reach reach) {
    peer_reads_blocks_ = reach.blocks;
    peer_reads_all_ = reach.all;
  }

 private:
  struct Piece {
    uint64_t address;  // in the sender's memory; 0: the bytes follow
    uint64_t length;
  };
  // What goes out of a frame.
  struct Outgoing {
    std::string head;
    std::vector<grpc::Slice> pieces;  // behind it
  };
  bool IsFetched(const grpc::Slice& slice) const;
  bool Encode(const LaneFrame& frame, Outgoing* outgoing, bool* is_held) const;
  bool Enqueue(const LaneFrame& frame, const std::function<bool()>& still, bool sends);
  bool Write(const std::vector<Outgoing>& frames);
  bool WriteKept();
  void KeepReleases();
  bool IsWritable() const;
  bool Fill(size_t bytes);  // has so many in buffer_, or fails
  bool Need(char* to, size_t bytes);
  bool ReadFrame(LaneFrame* frame);
  bool IsTooLarge(const std::vector<Piece>& pieces, LaneFrame* frame) const;
  bool ReadBody(const std::vector<Piece>& pieces, LaneFrame* frame);
  bool Skip(uint64_t bytes);
  bool Fetch(const Piece& piece, std::vector<grpc::Slice>* slices, bool* has_memory);

  const int fd_;
  const uint64_t max_body_bytes_;
  pid_t peer_ = 0;
  uid_t peer_user_ = static_cast<uid_t>(-1);
  PeerMemory memory_;
  std::atomic<bool> peer_reads_blocks_{false}, peer_reads_all_{false};
  std::mutex write_mutex_;
  std::vector<Outgoing> kept_;  // guarded by write_mutex_
  std::mutex held_mutex_;
  std::multimap<uint64_t, grpc::ByteBuffer> held_;  // by call; guarded by held_mutex_
  // Of the peer's: fetched, and not yet told so.
  std::mutex fetched_mutex_;
  std::vector<uint64_t> fetched_calls_;  // guarded by fetched_mutex_
  uint64_t fetched_bytes_ = 0;           // guarded by fetched_mutex_
  // Of Receive: what came and was not taken yet.
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

// Sockets in the system's abstract namespace, which is the host's or the container's.
// -1 where nobody listens under the name, or somebody else does.
int ConnectLane(const std::string& address);
int ListenLane(const std::string& address);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_LANE_SOCKET_H_
