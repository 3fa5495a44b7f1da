#include "distributed/lane/peer_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <type_traits>

#include "executor/device/shared_blocks.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// Random bytes in the memory of this process. A peer reads them to check that it can read this
// memory, and that it is not that of another process.
using Probe = std::array<uint64_t, 2>;

constexpr std::string_view kBlocks = "blocks", kAll = "all";

// Opens a peer's shared blocks. Returns -1 unless the file lies in memory, has that size and cannot
// shrink. Opening another file could block, and reading a file that shrinks could kill this
// process.
int OpenBlocks(const std::string& name, uint64_t bytes) {
  const int found = open(name.c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) return -1;
  struct stat file = {};
  struct statfs system = {};
  int fd = -1;
  if (fstat(found, &file) == 0 && S_ISREG(file.st_mode) && fstatfs(found, &system) == 0 &&
      system.f_type == TMPFS_MAGIC && static_cast<uint64_t>(file.st_size) == bytes &&
      bytes >= sizeof(Probe)) {
    fd = open(StrCat("/proc/self/fd/", found).c_str(), O_RDONLY | O_CLOEXEC);
  }
  close(found);
  if (fd < 0) return -1;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

struct PeerMemory::Offer {
  uint64_t probe_address = 0;
  Probe probe{};
  // The shared blocks, which begin with a copy of the probe. `bytes` is 0 if there are none.
  uint64_t begin = 0, bytes = 0;
  int64_t fd = -1;
};

PeerMemory::Reach PeerMemory::Reach::FromText(std::string_view text) {
  return {text.find(kBlocks) != text.npos, text.find(kAll) != text.npos};
}

std::string PeerMemory::Reach::ToText() const {
  return StrCat(blocks ? kBlocks : "", " ", all ? kAll : "");
}

PeerMemory::~PeerMemory() {
  if (mapped_ != nullptr) munmap(const_cast<char*>(mapped_), bytes_);
}

const PeerMemory::Offer& PeerMemory::Own() {
  static const Offer* const own = [] {
    auto* const offer = new Offer;
    std::random_device random;
    for (uint64_t& word : offer->probe) word = uint64_t{random()} << 32 | random();
    offer->probe_address = reinterpret_cast<uint64_t>(&offer->probe);
    if (SharedBlocks* const blocks = SharedBlocks::Open()) {
      std::memcpy(blocks->label(), &offer->probe, sizeof(offer->probe));
      offer->begin = reinterpret_cast<uint64_t>(blocks->begin());
      offer->bytes = blocks->bytes();
      offer->fd = blocks->fd();
    }
    return offer;
  }();
  return *own;
}

std::string PeerMemory::Invitation() {
  static_assert(std::is_trivially_copyable_v<Offer>);
  return std::string(reinterpret_cast<const char*>(&Own()), sizeof(Offer));
}

bool PeerMemory::Open(pid_t peer, std::string_view* text) {
  Offer offer;
  if (text->size() < sizeof(offer)) return false;
  std::memcpy(&offer, text->data(), sizeof(offer));
  text->remove_prefix(sizeof(offer));
  if (peer <= 0) return true;  // it runs in another container
  peer_ = peer;
  Probe found{};
  copies_ = Copy(offer.probe_address, reinterpret_cast<char*>(found.data()), sizeof(found)) &&
            found == offer.probe;
  if (mapped_ == nullptr && offer.bytes > 0) Map(offer);
  return true;
}

void PeerMemory::Map(const Offer& offer) {
  const int fd = OpenBlocks(StrCat("/proc/", peer_, "/fd/", offer.fd), offer.bytes);
  if (fd < 0) return;
  void* const mapped = mmap(nullptr, offer.bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return;
  if (std::memcmp(mapped, &offer.probe, sizeof(Probe)) != 0) {
    munmap(mapped, offer.bytes);
    return;
  }
  madvise(mapped, offer.bytes, MADV_DONTDUMP);  // a dump would fill the file's holes
  mapped_ = static_cast<const char*>(mapped);
  begin_ = offer.begin;
  bytes_ = offer.bytes;
}

bool PeerMemory::Read(uint64_t address, char* to, size_t bytes) const {
  const uint64_t at = address - begin_;
  if (mapped_ == nullptr || at >= bytes_ || bytes > bytes_ - at) return Copy(address, to, bytes);
  std::memcpy(to, mapped_ + at, bytes);
  return true;
}

bool PeerMemory::Copy(uint64_t address, char* to, size_t bytes) const {
  while (bytes > 0) {
    const iovec here = {to, bytes};
    const iovec there = {reinterpret_cast<void*>(address), bytes};
    const ssize_t n = process_vm_readv(peer_, &here, 1, &there, 1, 0);
    if (n <= 0) return false;
    to += n;
    address += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace sluice
