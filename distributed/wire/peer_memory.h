// How one process of a user reads what lies in another one's memory: from the other's shared
// blocks, which it maps; elsewhere by process_vm_readv, at a third of the speed. A system may
// forbid either (containers, ptrace_scope).
//
// Thread safety: Open before all others, which may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_PEER_MEMORY_H_
#define SLUICE_DISTRIBUTED_WIRE_PEER_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

class PeerMemory {
 public:
  // What of a process's memory another one can read; as text it goes over the wire.
  struct Reach {
    bool blocks = false;  // the shared ones
    bool all = false;
    static Reach FromText(std::string_view text);
    std::string ToText() const;
  };

  PeerMemory() = default;
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Tells another process how to read this one's; of a fixed size.
  static std::string Invitation();
  // Takes the other's from the front of the text, and tries it. False where there is none.
  bool Open(pid_t peer, std::string_view* text);

  Reach reach() const { return {mapped_ != nullptr, copies_}; }
  // False where these bytes are out of reach, or no longer there.
  bool Read(uint64_t address, char* to, size_t bytes) const;

 private:
  struct Offer;
  static const Offer& Own();
  void Map(const Offer& offer);
  bool Copy(uint64_t address, char* to, size_t bytes) const;

  pid_t peer_ = 0;
  bool copies_ = false;
  const char* mapped_ = nullptr;    // the peer's shared blocks, here
  uint64_t begin_ = 0, bytes_ = 0;  // the same, there
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_PEER_MEMORY_H_
