// A lane is a connection between two processes of one user on one host. Messages travel over a Unix
// socket as frames (LaneFrame), each with a header and possibly a body, such as a tensor. The
// receiver copies large bodies straight out of the sender's memory (peer_memory.h).
//
// Reason: between tasks of a host, gRPC over loopback spends more time on a message than most steps
// need to compute, and copies each tensor three times. A lane needs one system call per message and
// side, and one copy per tensor. If the system does not let one process read another's memory,
// bodies go through the socket.
//
// Trust: each side learns from the kernel which user runs the other side, and talks only to
// processes of its own user. Input is checked like input from a network.
// Thread safety: one thread at a time may call Receive and TakeGreeting, any thread the other
// methods.
#ifndef SLUICE_DISTRIBUTED_LANE_LANE_SOCKET_H_
#define SLUICE_DISTRIBUTED_LANE_LANE_SOCKET_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "distributed/lane/peer_memory.h"
#include "graph/mutex.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

struct LaneFrame {
  enum Kind : uint32_t {
    kHello = 1,  // text: a LaneSocket::Greeting with the token
    kWelcome,    // text: a Greeting with the sender's Reach; code: whether the client is accepted
    kReady,      // text: the sender's Reach; requests may follow
    kRequest,    // text: the path
    kResponse,   // code; text: the error message
    kCancel,     // the client has given up
    kRelease,    // the sender of this has copied the body of the frame with the same `call`
    kPing,
    kPong,
  };
  static constexpr uint64_t kOneWay = 0;  // `call` of a request that gets no response

  Kind kind = kPing;
  uint64_t call = 0;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string text;
  grpc::ByteBuffer body;
};

class LaneSocket {
 public:
  // Owns `fd`, a connected socket. If a body exceeds `max_body_bytes`, or there is no memory for
  // it, Receive returns a frame with RESOURCE_EXHAUSTED.
  explicit LaneSocket(int fd, uint64_t max_body_bytes = UINT64_MAX - 1);
  ~LaneSocket();
  LaneSocket(const LaneSocket&) = delete;
  LaneSocket& operator=(const LaneSocket&) = delete;

  int fd() const { return fd_; }
  // Whether the peer is a process of this process's user.
  bool PeerIsOwn() const;

  // Sends a frame. Blocks while the peer does not read, and keeps the body in memory until the peer
  // has copied it. When the frames of other threads have been sent, calls `is_wanted` if it is not
  // null. If `is_wanted` returns false, the frame is not sent. Returns whether the frame was sent.
  // It is not sent either if the connection is broken.
  bool Send(const LaneFrame& frame, const std::function<bool()>& is_wanted = nullptr);
  // Like Send, but keeps the frame until SendKept or the next Send, which sends all kept frames at
  // once. The caller must call one of the two.
  bool Keep(const LaneFrame& frame, const std::function<bool()>& is_wanted = nullptr);
  bool SendKept();
  // Send kept frames, or a ping, unless that would block.
  void TrySendKept();
  void TryPing();
  // Reads the frames that have arrived, at least one. Handles kRelease itself, and appends the
  // other frames to `frames`. To be called when the descriptor is readable. Returns false if the
  // connection has ended or the input is invalid. Does not wait for threads that are sending.
  bool Receive(std::vector<LaneFrame>* frames);
  // Reports to the peer which of its bodies this process has copied, so that the peer can free
  // them. Sends the report at once if these bodies are large together, otherwise with the next
  // frame. Sending may block, so the caller of Receive first lets another thread receive
  // (LanePoller::Arm), and then calls Release.
  void Release();
  bool HasInput() const;
  // Makes all later calls of Send and Receive fail.
  void Shutdown();

  // Returns the text of kHello and kWelcome: the protocol version, how to read this process's
  // memory, and `word`, which is the token in kHello and the sender's Reach in kWelcome.
  static std::string Greeting(std::string_view word);
  // Reads the peer's greeting, stores its word in `word`, and finds out which parts of the peer's
  // memory this process can read. Returns false if the peer speaks another version.
  bool TakeGreeting(std::string_view text, std::string* word);
  PeerMemory::Reach reach() const { return memory_.reach(); }
  // Sets which parts of this process's memory the peer can read.
  void SetPeersReach(PeerMemory::Reach reach) {
    peer_reads_blocks_ = reach.blocks;
    peer_reads_all_ = reach.all;
  }

 private:
  // A part of a body.
  struct Piece {
    uint64_t address;  // in the sender's memory; 0: the bytes follow in the socket
    uint64_t length;
  };
  using Slices = std::vector<grpc::Slice>;
  bool IsFetched(const grpc::Slice& slice) const;
  // Appends to `bytes` what is written to the socket for a frame. Sets `is_held` to true if the
  // peer will copy parts of the body out of this process's memory. The caller must keep the body
  // until then.
  void Encode(const LaneFrame& frame, Slices* bytes, bool* is_held) const;
  bool Enqueue(const LaneFrame& frame, const std::function<bool()>& is_wanted, bool sends);
  bool Write(const Slices& bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  bool WriteKept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  void KeepReleases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  bool IsReady(int16_t events) const;
  bool Fill(size_t bytes);  // reads until buffer_ has at least this many unread bytes
  bool Take(void* to, size_t bytes);
  bool ReadFrame(LaneFrame* frame);
  bool IsTooLarge(const std::vector<Piece>& pieces) const;
  bool ReadBody(const std::vector<Piece>& pieces, LaneFrame* frame);
  bool ReadInline(uint64_t bytes, Slices* slices);
  bool Skip(uint64_t bytes);
  bool Fetch(const Piece& piece, Slices* slices, bool* has_memory);

  const int fd_;
  const uint64_t max_body_bytes_;
  pid_t peer_ = 0;
  uid_t peer_user_ = static_cast<uid_t>(-1);
  PeerMemory memory_;
  std::atomic<bool> peer_reads_blocks_{false}, peer_reads_all_{false};
  Mutex write_mutex_;
  Slices kept_ ABSL_GUARDED_BY(write_mutex_);
  Mutex held_mutex_;
  // Bodies that the peer has yet to copy, by call.
  std::multimap<uint64_t, grpc::ByteBuffer> held_ ABSL_GUARDED_BY(held_mutex_);
  Mutex fetched_mutex_;
  // Calls whose bodies this process has copied, but not reported to the peer yet.
  std::vector<uint64_t> fetched_calls_ ABSL_GUARDED_BY(fetched_mutex_);
  uint64_t fetched_bytes_ ABSL_GUARDED_BY(fetched_mutex_) = 0;
  // Input that was received and not read yet: buffer_[begin_, end_). Used by Receive only.
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

// These functions connect to, or listen at, a socket of the system's abstract namespace, which
// belongs to the host or container. They return the descriptor, or -1 after an error. ConnectLane
// also returns -1 if no process listens at the address. It does not check the user of the process
// that listens (LaneSocket::PeerIsOwn).
int ConnectLane(const std::string& address);
int ListenLane(const std::string& address);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_LANE_SOCKET_H_
