// Reads the memory of another process of the same user, from which a lane copies tensors
// (lane_socket.h). It maps the other process's shared blocks, which hold many of its tensors
// (executor/device/shared_blocks.h). It reads other memory with process_vm_readv, which is slower.
// The system may forbid one or both (containers, ptrace_scope).
//
// Thread safety: Open must return before any other method is called. Then all methods may be called
// from any thread.
#ifndef SLUICE_DISTRIBUTED_LANE_PEER_MEMORY_H_
#define SLUICE_DISTRIBUTED_LANE_PEER_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

class PeerMemory {
 public:
  // The parts of a process's memory that another process can read.
  struct Reach {
    bool blocks = false;  // the shared blocks
    bool all = false;     // all memory
    static Reach FromText(std::string_view text);
    std::string ToText() const;
  };

  PeerMemory() = default;
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Returns a text of fixed size from which another process learns how to read this one's memory.
  static std::string Invitation();
  // Removes the peer's Invitation from the beginning of `text`, and tries the ways of reading the
  // peer's memory that it offers. Returns false if the text does not begin with an invitation.
  bool Open(pid_t peer, std::string_view* text);

  Reach reach() const { return {mapped_ != nullptr, copies_}; }
  // Returns false if these bytes cannot be read, or do not exist any more.
  bool Read(uint64_t address, char* to, size_t bytes) const;

 private:
  struct Offer;
  static const Offer& Own();
  void Map(const Offer& offer);
  bool Copy(uint64_t address, char* to, size_t bytes) const;

  pid_t peer_ = 0;
  bool copies_ = false;
  const char* mapped_ = nullptr;    // the peer's shared blocks in this process
  uint64_t begin_ = 0, bytes_ = 0;  // their address in the peer, and size
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_PEER_MEMORY_H_
