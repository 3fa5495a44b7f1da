#include "executor/files/file_policy.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "executor/files/files.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A root with a file "in", beside a folder with a file "out" that links try to reach.
class FilePolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string base = StrCat(
        ::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(base);
    root_ = base + "/root";
    outside_ = base + "/outside";
    for (const std::string& folder : {root_, outside_}) {
      ASSERT_TRUE(MakeDirectories(folder).ok());
    }
    ASSERT_TRUE(WriteFileAtomically(root_ + "/in", "inside").ok());
    ASSERT_TRUE(WriteFileAtomically(outside_ + "/out", "outside").ok());
  }
  void TearDown() override {
    ASSERT_TRUE(SetFilePolicy({}).ok());
    SetFileAudit(nullptr);
  }
  void Link(const std::string& name, const std::string& target) {
    ASSERT_EQ(symlink(target.c_str(), StrCat(root_, "/", name).c_str()), 0);
  }
  void ExpectForbidden(const absl::Status& status, const std::string& why) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }

  std::string root_, outside_;
};

TEST_F(FilePolicyTest, FilesInTheRootAreUsedByAbsoluteAndRelativePaths) {
  ASSERT_TRUE(SetFilePolicy({.root = root_}).ok());
  EXPECT_EQ(ReadWholeFile(root_ + "/in").value(), "inside");
  EXPECT_EQ(ReadWholeFile("in").value(), "inside");
  EXPECT_EQ(ReadWholeFile(StrCat("file://", root_, "/in")).value(), "inside");
  ASSERT_TRUE(MakeDirectories(root_ + "/a/b").ok());
  ASSERT_TRUE(WriteFileAtomically(root_ + "/a/b/new", "text").ok());
  ASSERT_TRUE(AppendToFile("a/b/new", " more").ok());
  ASSERT_TRUE(RenameFile("a/b/new", root_ + "/a/newer").ok());
  EXPECT_EQ(ReadWholeFile("a/newer").value(), "text more");
  EXPECT_TRUE(FileExists(root_));
  EXPECT_TRUE(IsDirectory("a/b"));
  EXPECT_TRUE(ModificationTime("in").ok());
  EXPECT_THAT(MatchFiles(root_ + "/*").value(), ElementsAre(root_ + "/a", root_ + "/in"));
  EXPECT_THAT(MatchFiles("a/new*").value(), ElementsAre("a/newer"));
  ASSERT_TRUE(RemoveFile("a/newer").ok());
  ASSERT_TRUE(RemoveEmptyDirectory("a/b").ok());
  EXPECT_FALSE(FileExists("a/b"));
}

// Each `path` leads out of the root. Every operation on it fails.
TEST_F(FilePolicyTest, NothingOutsideOfTheRootIsReached) {
  Link("up", "../outside");
  Link("absolute", outside_);
  Link("file", "../outside/out");
  Link("self", "/proc/self/root");
  ASSERT_TRUE(SetFilePolicy({.root = root_}).ok());
  for (const std::string& path :
       {outside_ + "/out", root_ + "/../outside/out", std::string("../outside/out"),
        root_ + "/up/out", std::string("absolute/out"), StrCat("self", outside_, "/out"),
        StrCat("file://", outside_, "/out")}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(ReadWholeFile(path).status().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_FALSE(FileWriter::Create(path).ok());
    EXPECT_FALSE(AppendToFile(path, "x").ok());
    EXPECT_FALSE(WriteFileAtomically(path, "x").ok());
    EXPECT_FALSE(FileExists(path));
    EXPECT_FALSE(ModificationTime(path).ok());
    EXPECT_FALSE(RenameFile(path, "stolen").ok());
    EXPECT_FALSE(RenameFile("in", path).ok());
    EXPECT_FALSE(RemoveFile(path).ok());
    EXPECT_FALSE(RemoveEmptyDirectory(DirectoryOf(path)).ok());
    EXPECT_FALSE(MakeDirectories(path + "/new").ok());
    EXPECT_FALSE(SyncDirectory(DirectoryOf(path)).ok());
    EXPECT_THAT(MatchFiles(path).value_or(std::vector<std::string>()), IsEmpty());
    EXPECT_THAT(
        MatchFiles(path.substr(0, path.size() - 3) + "*").value_or(std::vector<std::string>()),
        IsEmpty());
  }
  ExpectForbidden(ReadWholeFile("file").status(), "a symbolic link leaves");
  ExpectForbidden(ReadWholeFile(outside_ + "/out").status(), "the file is outside of");
  ExpectForbidden(ReadWholeFile("a/../in").status(), "'..' is forbidden");
  ExpectForbidden(MatchFiles(outside_ + "/*").status(), "the file is outside of");
  ExpectForbidden(ReadWholeFile(root_ + "2/in").status(), "the file is outside of");
  ExpectForbidden(ReadWholeFile("s3://bucket/in").status(), "the file is outside of");
  ExpectForbidden(PathToMap("in").status(), "maps no files");
  ASSERT_TRUE(SetFilePolicy({}).ok());
  EXPECT_EQ(ReadWholeFile(outside_ + "/out").value(), "outside");
}

TEST_F(FilePolicyTest, LinksWithinTheRootAreFollowed) {
  Link("link", "in");
  ASSERT_TRUE(SetFilePolicy({.root = root_}).ok());
  EXPECT_EQ(ReadWholeFile("link").value(), "inside");
}

TEST_F(FilePolicyTest, TheRootItselfMayBeReachedByALink) {
  const std::string name = root_ + "_link";
  ASSERT_EQ(symlink(root_.c_str(), name.c_str()), 0);
  ASSERT_TRUE(SetFilePolicy({.root = name}).ok());
  EXPECT_EQ(ReadWholeFile(name + "/in").value(), "inside");
  EXPECT_EQ(ReadWholeFile(root_ + "/in").value(), "inside");
  ASSERT_TRUE(MakeDirectories(name + "/new").ok());
}

TEST_F(FilePolicyTest, ARootMustBeAFolder) {
  EXPECT_TRUE(absl::IsNotFound(SetFilePolicy({.root = root_ + "/none"})));
  EXPECT_FALSE(SetFilePolicy({.root = root_ + "/in"}).ok());
  EXPECT_EQ(ReadWholeFile(outside_ + "/out").value(), "outside");
}

TEST_F(FilePolicyTest, NoFiles) {
  ASSERT_TRUE(SetFilePolicy({.files = false}).ok());
  const std::string path = root_ + "/in";
  for (const absl::Status& status :
       {ReadWholeFile(path).status(), FileWriter::Create(path).status(), AppendToFile(path, "x"),
        WriteFileAtomically(path, "x"), RenameFile(path, path + "2"), RemoveFile(path),
        RemoveEmptyDirectory(root_), MakeDirectories(root_ + "/new"), SyncDirectory(root_),
        MatchFiles(path).status(), ModificationTime(path).status(), PathToMap(path).status(),
        ReadWholeFile("s3://bucket/in").status()}) {
    ExpectForbidden(status, "this server uses no files");
  }
  EXPECT_FALSE(FileExists(path));
}

// Opening a FIFO without a writer would wait forever.
TEST_F(FilePolicyTest, OnlyRegularFilesAreOpened) {
  const std::string fifo = root_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_TRUE(SetFilePolicy({.special_files = false}).ok());
  for (const std::string& path : {fifo, std::string("/dev/zero"), std::string("/dev/null")}) {
    ExpectForbidden(ReadWholeFile(path).status(), "expected a regular file");
  }
  ExpectForbidden(AppendToFile("/dev/null", "x"), "expected a regular file");
  // A FIFO without a reader cannot be opened for writing either.
  EXPECT_FALSE(AppendToFile(fifo, "x").ok());
  EXPECT_EQ(ReadWholeFile(root_ + "/in").value(), "inside");
  EXPECT_THAT(ReadWholeFile("/proc/self/status").value(), HasSubstr("Threads:"));
  ASSERT_TRUE(SetFilePolicy({}).ok());
  EXPECT_EQ(ReadWholeFile("/dev/null").value(), "");
}

TEST_F(FilePolicyTest, FilesAreMappedUnlessThatIsForbidden) {
  EXPECT_EQ(PathToMap("file:///a").value(), "/a");
  ASSERT_TRUE(SetFilePolicy({.mapped_files = false}).ok());
  ExpectForbidden(PathToMap("/a").status(), "maps no files into memory");
}

// /proc/self/mem has the size 0, and reading its first page fails.
TEST_F(FilePolicyTest, AnErrorOfAFileOfSizeZeroIsAnError) {
  EXPECT_THAT(ReadWholeFile("/proc/self/mem").status().ToString(),
              HasSubstr("/proc/self/mem; Input/output error"));
}

TEST_F(FilePolicyTest, EachUseOfAFileIsAudited) {
  std::vector<std::string> uses;
  SetFileAudit([&](std::string_view action, const std::string& path) {
    uses.push_back(StrCat(action, " ", BaseNameOf(path)));
  });
  ASSERT_TRUE(ReadWholeFile(root_ + "/in").ok());
  ASSERT_TRUE(AppendToFile(root_ + "/log", "x").ok());
  ASSERT_TRUE(RenameFile(root_ + "/log", root_ + "/log2").ok());
  ASSERT_TRUE(RemoveFile(root_ + "/log2").ok());
  ASSERT_TRUE(PathToMap(root_ + "/in").ok());
  EXPECT_THAT(uses, ElementsAre("read in", "write log", "rename log", "write log2", "remove log2",
                                "map in"));
}

}  // namespace
}  // namespace sluice
