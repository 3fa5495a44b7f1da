#include "executor/files/files.h"

#include <map>

#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

std::string Folder() {
  const std::string folder = StrCat(
      ::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
  EXPECT_TRUE(MakeDirectories(folder).ok());
  return folder;
}

TEST(FilesTest, PartsOfPaths) {
  const Uri store = ParseUri("s3://bucket/a/b");
  EXPECT_EQ(store.scheme, "s3");
  EXPECT_EQ(store.host, "bucket");
  EXPECT_EQ(store.path, "/a/b");
  for (const char* local : {"/a/b", "a/b", "", "://a", "3d://a", "a/b://c", "file:/a"}) {
    EXPECT_EQ(ParseUri(local).scheme, "") << local;
    EXPECT_EQ(ParseUri(local).path, local);
  }
  EXPECT_EQ(DirectoryOf("a/b/c"), "a/b");
  EXPECT_EQ(DirectoryOf("c"), ".");
  EXPECT_EQ(DirectoryOf("/c"), "/");
  EXPECT_EQ(DirectoryOf("file:///c"), "file:///");
  EXPECT_EQ(DirectoryOf("s3://bucket/a/b"), "s3://bucket/a");
  EXPECT_EQ(DirectoryOf("s3://bucket"), "s3://bucket");
  EXPECT_EQ(JoinPath("a", "s3://b/c"), "s3://b/c");
  EXPECT_EQ(JoinPath("s3://b", "c"), "s3://b/c");
  EXPECT_EQ(LocalPath("file://host/a").value(), "/a");
  EXPECT_EQ(LocalPath("file://host").value(), "/");
}

// "file://…" must not name a file in a folder "file:" of the current folder.
TEST(FilesTest, AFileUriIsALocalPath) {
  const std::string folder = Folder(), uri = StrCat("file://", folder, "/new/deeper");
  ASSERT_TRUE(MakeDirectories(uri).ok());
  ASSERT_TRUE(WriteFileAtomically(uri + "/a.txt", "text").ok());
  ASSERT_TRUE(AppendToFile(uri + "/a.txt", " more").ok());
  EXPECT_EQ(ReadWholeFile(folder + "/new/deeper/a.txt").value(), "text more");
  EXPECT_EQ(ReadWholeFile(uri + "/a.txt").value(), "text more");
  EXPECT_TRUE(FileExists(uri + "/a.txt"));
  EXPECT_TRUE(IsDirectory(uri));
  EXPECT_FALSE(FileExists("file:"));
  EXPECT_THAT(MatchFiles(uri + "/*.txt").value(), ElementsAre(uri + "/a.txt"));
  ASSERT_TRUE(RenameFile(uri + "/a.txt", folder + "/b.txt").ok());
  ASSERT_TRUE(RemoveFile(StrCat("file://localhost", folder, "/b.txt")).ok());
  EXPECT_EQ(ReadWholeFile(uri + "/a.txt").status(),
            absl::NotFoundError(uri + "/a.txt; No such file or directory"));
  EXPECT_EQ(ReadWholeFile(uri).status(), absl::FailedPreconditionError(uri + "; Is a directory"));
}

TEST(FilesTest, AFileThatEndsTooEarlyIsNamed) {
  const std::string path = Folder() + "/short";
  ASSERT_TRUE(WriteFileAtomically(path, "abc").ok());
  const auto file = FileReader::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  char bytes[4];
  EXPECT_EQ((*file)->ReadAt(1, 4, bytes),
            absl::OutOfRangeError(path + "; Read less bytes than requested: expected 4, got 2"));
}

TEST(FilesTest, ANewFileReplacesNoOther) {
  const std::string path = Folder() + "/new";
  Discard(path);
  ASSERT_TRUE(WriteNewFile(path, "first").ok());
  const absl::Status again = WriteNewFile(path, "second");
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  EXPECT_EQ(ReadWholeFile(path).value(), "first");
}

TEST(FilesTest, AnUnknownSchemeIsNamed) {
  const absl::Status expected = absl::UnimplementedError(
      "File system scheme 'bogus' not implemented (file: 'bogus://host/a')");
  const std::string path = "bogus://host/a";
  EXPECT_EQ(ReadWholeFile(path).status(), expected);
  EXPECT_EQ(FileWriter::Create(path).status(), expected);
  EXPECT_EQ(AppendToFile(path, "").ToString(), expected.ToString());
  EXPECT_EQ(MakeDirectories(path), expected);
  EXPECT_EQ(RemoveFile(path), expected);
  EXPECT_EQ(RenameFile(path, "b"), expected);
  EXPECT_EQ(RenameFile("b", path), expected);
  EXPECT_EQ(MatchFiles(path).status(), expected);
  EXPECT_EQ(ModificationTime(path).status(), expected);
  EXPECT_EQ(LocalPath(path).status(), expected);
  EXPECT_FALSE(FileExists(path));
}

// Files in memory, as an object store would be added.
class MemoryFiles : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<FileReader>> Read(const std::string& path) override {
    struct Reader : FileReader {
      Reader(std::string path, std::string text)
          : FileReader(std::move(path)), text(std::move(text)) {}
      int64_t size() const override { return static_cast<int64_t>(text.size()); }
      absl::StatusOr<int64_t> ReadSome(int64_t offset, int64_t n, char* to) const override {
        return static_cast<int64_t>(
            text.copy(to, static_cast<size_t>(n), static_cast<size_t>(offset)));
      }
      const std::string text;
    };
    if (!files.contains(path)) return FileError(path, ENOENT);
    return std::make_unique<Reader>(path, files[path]);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> Write(const std::string& path,
                                                      WriteMode mode) override {
    struct Writer : WritableFile {
      explicit Writer(std::string* text) : text(text) {}
      absl::StatusOr<size_t> WriteSome(std::string_view bytes) override {
        *text += bytes.substr(0, 3);
        return std::min<size_t>(bytes.size(), 3);
      }
      absl::Status Sync() override { return absl::OkStatus(); }
      absl::Status Close() override { return absl::OkStatus(); }
      std::string* const text;
    };
    if (mode == WriteMode::kTruncate) files[path].clear();
    return std::make_unique<Writer>(&files[path]);
  }
  absl::StatusOr<FileInfo> Info(const std::string& path) override {
    if (!files.contains(path)) return FileError(path, ENOENT);
    return FileInfo{};
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    files[to] = files[from];
    return Remove(from);
  }
  absl::Status Remove(const std::string& path) override {
    files.erase(path);
    return absl::OkStatus();
  }
  absl::Status RemoveEmptyDirectory(const std::string&) override { return absl::OkStatus(); }
  absl::Status MakeDirectory(const std::string&) override { return absl::OkStatus(); }
  absl::Status SyncDirectory(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> Match(const std::string&) override {
    std::vector<std::string> paths;
    for (const auto& [path, text] : files) paths.push_back(path);
    return paths;
  }

  std::map<std::string, std::string> files;
};

TEST(FilesTest, AnotherFileSystemIsUsedForItsScheme) {
  auto owned = std::make_unique<MemoryFiles>();
  const MemoryFiles& memory = *owned;
  RegisterFileSystem("memory", std::move(owned));
  ASSERT_TRUE(WriteFileAtomically("memory://m/a", "0123456789").ok());
  EXPECT_THAT(memory.files, ElementsAre(std::pair("memory://m/a", "0123456789")));
  EXPECT_EQ(ReadWholeFile("memory://m/a").value(), "0123456789");
  EXPECT_THAT(MatchFiles("memory://m/*").value(), ElementsAre("memory://m/a"));
  EXPECT_EQ(RenameFile("memory://m/a", "b"),
            absl::UnimplementedError("Renaming memory://m/a to b not implemented"));
  EXPECT_EQ(LocalPath("memory://m/a").status(),
            absl::UnimplementedError("expected a local file, got 'memory://m/a'"));
}

}  // namespace
}  // namespace sluice
