#include "distributed/lane/peer_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "executor/device/shared_blocks.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

// The last fields of an invitation: the address, size and descriptor of the shared blocks.
struct Blocks {
  uint64_t begin, bytes;
  int64_t fd;
};
std::string InvitationWith(const Blocks& blocks) {
  std::string text = PeerMemory::Invitation();
  text.replace(text.size() - sizeof(blocks), sizeof(blocks),
               std::string(reinterpret_cast<const char*>(&blocks), sizeof(blocks)));
  return text;
}
Blocks OwnBlocks() {
  const std::string text = PeerMemory::Invitation();
  Blocks blocks;
  std::memcpy(&blocks, text.data() + text.size() - sizeof(blocks), sizeof(blocks));
  return blocks;
}
bool Maps(const Blocks& blocks) {
  const std::string text = InvitationWith(blocks);
  std::string_view rest = text;
  PeerMemory memory;
  EXPECT_TRUE(memory.Open(getpid(), &rest));
  EXPECT_TRUE(memory.reach().all);
  return memory.reach().blocks;
}
uint64_t AddressOf(const void* at) { return reinterpret_cast<uint64_t>(at); }

// A child process reads this process's memory.
TEST(PeerMemory, AnotherProcessReadsBlocksAndTheRest) {
  const std::string invitation = PeerMemory::Invitation() + "word";
  SharedBlocks* const shared = SharedBlocks::Opened();
  ASSERT_NE(shared, nullptr);
  char* const block = static_cast<char*>(shared->Cut(SharedBlocks::kPage));
  std::strcpy(block, "in a block");
  static char elsewhere[] = "before the fork";
  const pid_t parent = getpid();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    if (read(ready[0], &byte, 1) != 1) _exit(1);
    std::string_view rest = invitation;
    PeerMemory memory;
    if (!memory.Open(parent, &rest) || rest != "word") _exit(2);
    if (!memory.reach().blocks || !memory.reach().all) _exit(3);
    char found[32] = {};
    if (!memory.Read(AddressOf(block), found, 16) || std::strcmp(found, "in a block") != 0) {
      _exit(4);
    }
    if (!memory.Read(AddressOf(elsewhere), found, sizeof(elsewhere))) _exit(5);
    if (std::strcmp(found, "after the fork!") != 0) _exit(6);
    if (memory.Read(8, found, 8)) _exit(7);
    _exit(0);
  }
  std::strcpy(elsewhere, "after the fork!");
  ASSERT_EQ(write(ready[1], "x", 1), 1);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PeerMemory, WithoutAPeerNothingIsInReach) {
  const std::string text = PeerMemory::Invitation();
  std::string_view rest = text;
  PeerMemory memory;
  ASSERT_TRUE(memory.Open(0, &rest));
  EXPECT_FALSE(memory.reach().blocks || memory.reach().all);
  char byte;
  EXPECT_FALSE(memory.Read(AddressOf(&rest), &byte, 1));
  rest = std::string_view(text).substr(1);
  EXPECT_FALSE(memory.Open(getpid(), &rest));
}

TEST(PeerMemory, TakesNoFileThatCouldEndThisProcess) {
  const Blocks own = OwnBlocks();
  EXPECT_TRUE(Maps(own));
  EXPECT_FALSE(Maps({own.begin, own.bytes * 2, own.fd}));
  EXPECT_FALSE(Maps({own.begin, own.bytes / 2, own.fd}));
  EXPECT_FALSE(Maps({own.begin, own.bytes, -1}));
  EXPECT_FALSE(Maps({own.begin, own.bytes, 1 << 20}));
  const int file = memfd_create("file", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(file, 1 << 20), 0);
  EXPECT_FALSE(Maps({own.begin, 1 << 20, file}));  // not sealed
  ASSERT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_FALSE(Maps({own.begin, 1 << 20, file}));  // without the probe
  const std::string invitation = PeerMemory::Invitation();
  ASSERT_EQ(pwrite(file, invitation.data() + sizeof(uint64_t), 16, 0), 16);
  EXPECT_TRUE(Maps({own.begin, 1 << 20, file}));
  const int tiny = memfd_create("tiny", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(tiny, 1), 0);
  ASSERT_EQ(fcntl(tiny, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_FALSE(Maps({own.begin, 1, tiny}));
  close(tiny);
  close(file);
}

TEST(PeerMemory, ReachIsToldAsText) {
  for (const bool blocks : {false, true}) {
    for (const bool all : {false, true}) {
      const auto told = PeerMemory::Reach::FromText(PeerMemory::Reach{blocks, all}.ToText());
      EXPECT_EQ(told.blocks, blocks);
      EXPECT_EQ(told.all, all);
    }
  }
}

}  // namespace
}  // namespace sluice
