#include "distributed/lane/lane_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/message/fetched_buffers.h"
#include "executor/device/pool_allocator.h"
#include "executor/device/shared_blocks.h"
#include "graph/strings.h"
#include "graph/tensor/buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

constexpr uint32_t kVersion = 2;
// From these sizes on, it costs less to copy bytes out of the sender's memory, and to report the
// copy, than to send them through the socket. The first size is for parts of shared blocks, the
// second one for other memory.
constexpr size_t kFetchBlockFrom = 8 << 10;
constexpr size_t kFetchFrom = 32 << 10;
// The most copied bytes whose report waits for a later frame.
constexpr uint64_t kMaxUnreported = 64 << 10;
constexpr uint32_t kMaxText = 1 << 16;
constexpr uint32_t kMaxPieces = 1 << 16;
constexpr size_t kBufferBytes = 16 << 10;
constexpr size_t kMaxVectors = 64;    // per system call
constexpr size_t kAlwaysFits = 4096;  // bytes that a writable socket takes without blocking
constexpr size_t kInlineBytes = 1 << 20;

struct Header {
  uint32_t kind;
  uint32_t text_bytes;
  uint32_t pieces;
  int32_t code;
  uint64_t call;
};

socklen_t NameOf(const std::string& address, sockaddr_un* name) {
  *name = {};
  name->sun_family = AF_UNIX;
  const std::string text = "sluice/" + address;
  const size_t size = std::min(text.size(), sizeof(name->sun_path) - 1);
  std::memcpy(name->sun_path + 1, text.data(), size);  // the leading zero means abstract
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

template <typename F>
int WithSocket(const std::string& address, F use) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name;
  const socklen_t size = NameOf(address, &name);
  if (fd >= 0 && use(fd, reinterpret_cast<sockaddr*>(&name), size)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

int ConnectLane(const std::string& address) {
  return WithSocket(
      address, [](int fd, sockaddr* name, socklen_t size) { return connect(fd, name, size) == 0; });
}

int ListenLane(const std::string& address) {
  return WithSocket(address, [](int fd, sockaddr* name, socklen_t size) {
    return bind(fd, name, size) == 0 && listen(fd, SOMAXCONN) == 0;
  });
}

LaneSocket::LaneSocket(int fd, uint64_t max_body_bytes)
    : fd_(fd), max_body_bytes_(max_body_bytes), buffer_(kBufferBytes) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    peer_ = credentials.pid;
    peer_user_ = credentials.uid;
  }
}

LaneSocket::~LaneSocket() {
  Shutdown();
  close(fd_);
}

bool LaneSocket::PeerIsOwn() const { return peer_user_ == geteuid(); }

std::string LaneSocket::Greeting(std::string_view word) {
  std::string text;
  text.append(reinterpret_cast<const char*>(&kVersion), sizeof(kVersion));
  return text.append(PeerMemory::Invitation()).append(word);
}

bool LaneSocket::TakeGreeting(std::string_view text, std::string* word) {
  uint32_t version;
  if (text.size() < sizeof(version)) return false;
  std::memcpy(&version, text.data(), sizeof(version));
  text.remove_prefix(sizeof(version));
  if (version != kVersion || !memory_.Open(peer_, &text)) return false;
  *word = text;
  return true;
}

bool LaneSocket::Send(const LaneFrame& frame, const std::function<bool()>& is_wanted) {
  return Enqueue(frame, is_wanted, /*sends=*/true);
}

bool LaneSocket::Keep(const LaneFrame& frame, const std::function<bool()>& is_wanted) {
  return Enqueue(frame, is_wanted, /*sends=*/false);
}

bool LaneSocket::SendKept() {
  ScopedLock lock(&write_mutex_);
  return WriteKept();
}

void LaneSocket::Release() {
  {
    ScopedLock lock(&fetched_mutex_);
    if (fetched_bytes_ <= kMaxUnreported) return;
  }
  SendKept();
}

void LaneSocket::KeepReleases() {
  std::vector<uint64_t> calls;
  {
    ScopedLock lock(&fetched_mutex_);
    calls.swap(fetched_calls_);
    fetched_bytes_ = 0;
  }
  for (const uint64_t call : calls) {
    const Header header = {LaneFrame::kRelease, 0, 0, 0, call};
    kept_.emplace_back(&header, sizeof(header));
  }
}

bool LaneSocket::WriteKept() {
  KeepReleases();
  return kept_.empty() || Write(std::exchange(kept_, {}));
}

bool LaneSocket::Enqueue(const LaneFrame& frame, const std::function<bool()>& is_wanted,
                         bool sends) {
  Slices bytes;
  bool is_held = false;
  Encode(frame, &bytes, &is_held);
  ScopedLock lock(&write_mutex_);
  if (is_wanted != nullptr && !is_wanted()) return false;
  if (is_held) {
    ScopedLock held_lock(&held_mutex_);
    held_.emplace(frame.call, frame.body);
  }
  std::move(bytes.begin(), bytes.end(), std::back_inserter(kept_));
  return !sends || WriteKept();
}

bool LaneSocket::IsFetched(const grpc::Slice& slice) const {
  if (slice.size() < kFetchBlockFrom) return false;
  const SharedBlocks* const blocks = SharedBlocks::Opened();
  if (blocks != nullptr && blocks->Holds(slice.begin())) {
    if (peer_reads_blocks_.load(std::memory_order_relaxed)) return true;
  }
  return slice.size() >= kFetchFrom && peer_reads_all_.load(std::memory_order_relaxed);
}

void LaneSocket::Encode(const LaneFrame& frame, Slices* bytes, bool* is_held) const {
  Header header = {frame.kind, static_cast<uint32_t>(std::min<size_t>(frame.text.size(), kMaxText)),
                   0, static_cast<int32_t>(frame.code), frame.call};
  std::string head(sizeof(header), '\0');
  head.append(frame.text, 0, header.text_bytes);
  bytes->emplace_back();
  for (grpc::Slice& slice : SlicesOf(frame.body)) {
    if (slice.size() == 0) continue;
    Piece piece = {0, slice.size()};
    if (IsFetched(slice)) {
      piece.address = reinterpret_cast<uint64_t>(slice.begin());
      *is_held = true;
    } else {
      bytes->push_back(std::move(slice));
    }
    head.append(reinterpret_cast<const char*>(&piece), sizeof(piece));
    ++header.pieces;
  }
  std::memcpy(head.data(), &header, sizeof(header));
  bytes->front() = grpc::Slice(head);
}

bool LaneSocket::Write(const Slices& bytes) {
  std::vector<iovec> all;
  for (const grpc::Slice& slice : bytes) {
    all.push_back({const_cast<uint8_t*>(slice.begin()), slice.size()});
  }
  for (size_t at = 0; at < all.size();) {
    msghdr message = {};
    message.msg_iov = &all[at];
    message.msg_iovlen = std::min(all.size() - at, kMaxVectors);
    const ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      shutdown(fd_, SHUT_RDWR);  // tells both sides that a frame was lost
      return false;
    }
    auto done = static_cast<size_t>(n);
    while (at < all.size() && done >= all[at].iov_len) done -= all[at++].iov_len;
    if (done == 0) continue;
    all[at].iov_base = static_cast<char*>(all[at].iov_base) + done;
    all[at].iov_len -= done;
  }
  return true;
}

bool LaneSocket::IsReady(int16_t events) const {
  pollfd polled = {fd_, events, 0};
  return poll(&polled, 1, 0) == 1 && (polled.revents & events) != 0;
}

void LaneSocket::TrySendKept() {
  if (!write_mutex_.TryLock()) return;
  if (IsReady(POLLOUT)) {
    KeepReleases();
    size_t bytes = 0;
    for (const grpc::Slice& slice : kept_) bytes += slice.size();
    // A thread that has kept more is about to send it.
    if (bytes <= kAlwaysFits) Write(std::exchange(kept_, {}));
  }
  write_mutex_.Unlock();
}

void LaneSocket::TryPing() {
  if (!write_mutex_.TryLock()) return;
  // A writable socket takes all of so small a frame.
  const Header header = {LaneFrame::kPing, 0, 0, 0, 0};
  if (IsReady(POLLOUT)) send(fd_, &header, sizeof(header), MSG_NOSIGNAL | MSG_DONTWAIT);
  write_mutex_.Unlock();
}

bool LaneSocket::HasInput() const { return IsReady(POLLIN); }

void LaneSocket::Shutdown() {
  shutdown(fd_, SHUT_RDWR);
  // Held buffers are freed only after the peer can see that the connection has ended: the peer
  // drops what it copies from then on.
  std::multimap<uint64_t, grpc::ByteBuffer> held;
  ScopedLock lock(&held_mutex_);
  held.swap(held_);
}

bool LaneSocket::Fill(size_t bytes) {
  if (end_ - begin_ >= bytes) return true;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  while (end_ < bytes) {
    const ssize_t n = recv(fd_, buffer_.data() + end_, buffer_.size() - end_, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    end_ += static_cast<size_t>(n);
  }
  return true;
}

bool LaneSocket::Take(void* to, size_t bytes) {
  if (bytes == 0) return true;  // `to` may be null
  const size_t known = std::min(bytes, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, known);
  begin_ += known;
  for (size_t at = known; at < bytes;) {
    const ssize_t n = recv(fd_, static_cast<char*>(to) + at, bytes - at, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

bool LaneSocket::Receive(std::vector<LaneFrame>* frames) {
  do {
    LaneFrame frame;
    if (!ReadFrame(&frame)) return false;
    if (frame.kind == LaneFrame::kRelease) {
      grpc::ByteBuffer released;  // freed without the lock
      ScopedLock lock(&held_mutex_);
      auto it = held_.find(frame.call);
      if (it != held_.end()) {
        released = std::move(it->second);
        held_.erase(it);
      }
    } else {
      frames->push_back(std::move(frame));
    }
  } while (begin_ < end_);
  return true;
}

bool LaneSocket::ReadFrame(LaneFrame* frame) {
  Header header;
  if (!Fill(sizeof(header))) return false;
  std::memcpy(&header, buffer_.data() + begin_, sizeof(header));
  begin_ += sizeof(header);
  if (header.kind < LaneFrame::kHello || header.kind > LaneFrame::kPong) return false;
  if (header.text_bytes > kMaxText || header.pieces > kMaxPieces) return false;
  frame->kind = static_cast<LaneFrame::Kind>(header.kind);
  frame->call = header.call;
  frame->code = static_cast<absl::StatusCode>(header.code);
  frame->text.resize(header.text_bytes);
  if (!Take(frame->text.data(), header.text_bytes)) return false;
  std::vector<Piece> pieces(header.pieces);
  return Take(pieces.data(), pieces.size() * sizeof(Piece)) && ReadBody(pieces, frame);
}

bool LaneSocket::IsTooLarge(const std::vector<Piece>& pieces) const {
  uint64_t size = 0;
  for (const Piece& piece : pieces) {
    if (piece.length > max_body_bytes_ - size) return true;
    size += piece.length;
  }
  return false;
}

bool LaneSocket::Skip(uint64_t bytes) {
  char ignored[4096];
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, sizeof(ignored)));
    if (!Take(ignored, n)) return false;
    bytes -= n;
  }
  return true;
}

bool LaneSocket::ReadBody(const std::vector<Piece>& pieces, LaneFrame* frame) {
  std::string refusal;
  if (IsTooLarge(pieces)) {
    refusal = StrCat("Received message larger than max (", max_body_bytes_, ")");
  }
  std::vector<grpc::Slice> slices;
  uint64_t kept = 0;  // bytes that the sender keeps until they are reported as copied
  for (const Piece& piece : pieces) {
    if (piece.length == 0) return false;
    const bool is_inline = piece.address == 0;
    if (!is_inline) kept += piece.length;
    bool ok = true;
    if (is_inline) {
      ok = refusal.empty() ? ReadInline(piece.length, &slices) : Skip(piece.length);
    } else if (refusal.empty()) {
      bool has_memory = true;
      ok = Fetch(piece, &slices, &has_memory);
      if (!has_memory) refusal = StrCat("no memory for ", piece.length, " bytes of a message");
    }
    if (!ok) return false;
  }
  if (kept > 0) {
    // The sender keeps the bytes until they are reported or the connection ends. So the copies are
    // valid if it has not ended yet.
    pollfd polled = {fd_, POLLRDHUP, 0};
    if (poll(&polled, 1, 0) != 0) return false;
    ScopedLock lock(&fetched_mutex_);
    fetched_calls_.push_back(frame->call);
    // A one-way call gets no response that the report could go with.
    fetched_bytes_ += frame->call == LaneFrame::kOneWay ? kMaxUnreported + 1 : kept;
  }
  if (refusal.empty()) {
    frame->body = grpc::ByteBuffer(slices.data(), slices.size());
  } else {
    frame->code = absl::StatusCode::kResourceExhausted;
    frame->text = std::move(refusal);
  }
  return true;
}

// Reads in steps, so that memory is allocated for bytes that arrive, not for bytes that a peer
// announces.
bool LaneSocket::ReadInline(uint64_t bytes, Slices* slices) {
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, kInlineBytes));
    slices->emplace_back(n);
    if (!Take(const_cast<uint8_t*>(slices->back().begin()), n)) return false;
    bytes -= n;
  }
  return true;
}

// Copies into memory that can become a tensor's.
bool LaneSocket::Fetch(const Piece& piece, Slices* slices, bool* has_memory) {
  BufferRef buffer(
      Buffer::New(PoolAllocator::Global(), DT_UINT8, static_cast<int64_t>(piece.length)));
  *has_memory = static_cast<bool>(buffer);
  if (!buffer) return true;
  char* const to = static_cast<char*>(buffer->data());
  slices->push_back(SliceOfFetched(std::move(buffer)));
  WireCounters::Global().copied.fetch_add(static_cast<int64_t>(piece.length));
  return memory_.Read(piece.address, to, piece.length);
}

}  // namespace sluice
