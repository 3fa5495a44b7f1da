#include "ops/checkpoint/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "ops/checkpoint/table.h"
#include "ops/checkpoint/v1.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Creates a folder that only this test uses.
std::string FolderOfTest() {
  const std::string folder =
      StrCat(::testing::TempDir(), "/",
             ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_XXXXXX");
  std::string name = folder;
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  const auto files = MatchFiles(folder + "/*");
  EXPECT_TRUE(files.ok());
  for (const std::string& file : *files) names.push_back(BaseNameOf(file));
  return names;
}

absl::Status Save(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  for (const auto& [name, tensor] : tensors) SLUICE_RETURN_IF_ERROR(writer->Add(name, tensor));
  return writer->Finish();
}

TEST(Table, FindsEveryKeyAcrossBlocks) {
  for (Compression compression : {Compression::kNone, Compression::kSnappy}) {
    const std::string path = FolderOfTest() + "/table";
    {
      auto file = FileWriter::Create(path).value();
      TableWriter table(file.get(), compression, 300);
      for (int i = 1000; i < 2000; ++i) {
        ASSERT_TRUE(table.Add(StrCat("key", i), std::string(i % 50, 'v')).ok());
      }
      EXPECT_THAT(table.Add("key1500", "").message(), HasSubstr("ascending order"));
      ASSERT_TRUE(table.Finish().ok());
      ASSERT_TRUE(file->SyncAndClose().ok());
    }
    const auto table = TableReader::Open(path);
    ASSERT_TRUE(table.ok()) << table.status();
    for (int i = 1000; i < 2000; ++i) {
      EXPECT_EQ(table->Find(StrCat("key", i)).value(), std::string(i % 50, 'v'));
    }
    EXPECT_EQ(table->Find("key").value(), std::nullopt);
    EXPECT_EQ(table->Find("key15005").value(), std::nullopt);
    EXPECT_EQ(table->Find("z").value(), std::nullopt);
  }
}

TEST(Slice, TextAndKeys) {
  const TensorSlice slice = TensorSlice::Parse("0,2:-").value();
  EXPECT_EQ(slice.ToString(), "0,2:-");
  EXPECT_EQ(slice.ShapeIn({4, 3}).value().ToString(), "[2,3]");
  EXPECT_EQ(TensorSliceKey("ab", slice), std::string("\0ab\0\1\1\2\x80\x82\x80\x7f", 11));
  // Each of these numbers takes two or more bytes.
  EXPECT_EQ(TensorSliceKey("", TensorSlice({{64, 1 << 20}})),
            std::string("\0\0\1\1\1\xc0\x40\xe0\x10\0\0", 11).replace(7, 4, "\xf0\x10\0\0", 4));
  EXPECT_EQ(TensorSlice::Parse("a,1").status().message(),
            "Expected a pair of numbers or '-' but got 'a,1': string = a,1");
  EXPECT_EQ(ParseShapeAndSlice("2 0,3").status().message(),
            "Extent in dimension 0 out of bounds: shape = [2], slice = 0,3");
}

TEST(Bundle, KeepsEveryTypeAndShape) {
  const std::string prefix = FolderOfTest() + "/model";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::map<std::string, Tensor> saved = {
      {"float", Tensor::Of<float>({2, 2}, {1, -0.0f, nan, 4})},
      {"scalar", Tensor::Scalar<int64_t>(-7)},
      {"empty", Tensor(DT_DOUBLE, {0, 3})},
      {"bool", Tensor::Vector<bool>({true, false})},
      {"strings", Tensor::Vector<std::string>({"", "a", std::string(300, 'x')})},
      {"string", Tensor::Scalar<std::string>("one")},
      {"no strings", Tensor(DT_STRING, {0})},
      {"bfloat16", Tensor::Vector<bfloat16>({bfloat16(1.5f)})},
      {"half", Tensor::Vector<half>({half(2.5f)})},
      {"complex", Tensor::Scalar(complex128(1, 2))},
      {"uint64", Tensor::Scalar<uint64_t>(uint64_t{1} << 63)},
  };
  ASSERT_TRUE(Save(prefix, saved).ok());
  const auto reader = BundleReader::Open(prefix);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->names().size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    const auto read = (*reader)->Read(name);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->dtype(), tensor.dtype());
    EXPECT_EQ(read->shape(), tensor.shape());
    if (tensor.dtype() == DT_STRING) {
      EXPECT_EQ(read->flat<std::string>(), tensor.flat<std::string>());
    } else {
      EXPECT_EQ(tensor.bytes() == 0 ? 0 : std::memcmp(read->raw(), tensor.raw(), tensor.bytes()), 0)
          << name;
    }
  }
  EXPECT_EQ((*reader)->Read("other").status().message(),
            StrCat("Key other not found in checkpoint '", prefix, "'"));
}

// Returns rows [begin, end) of a [6,2] tensor with elements 0, 1, 2, …
Tensor Rows(int begin, int end) {
  Tensor t(DT_INT32, {end - begin, 2});
  for (int i = 0; i < t.num_elements(); ++i) t.data<int32_t>()[i] = 2 * begin + i;
  return t;
}

TEST(Bundle, PutsPartsTogetherInAnyPartition) {
  const std::string prefix = FolderOfTest() + "/model";
  auto writer = BundleWriter::Create(prefix).value();
  ASSERT_TRUE(writer->AddSlice("v", {6, 2}, TensorSlice({{0, 2}, {}}), Rows(0, 2)).ok());
  ASSERT_TRUE(writer->AddSlice("v", {6, 2}, TensorSlice({{2, 4}, {}}), Rows(2, 6)).ok());
  EXPECT_EQ(writer->AddSlice("v", {7, 2}, TensorSlice({{6, 1}, {}}), Rows(0, 1)).message(),
            "slice 6,1:- of 'v': expected a part of int32[6,2] as the others, got one of "
            "int32[7,2]");
  ASSERT_TRUE(writer->Finish().ok());
  auto reader = BundleReader::Open(prefix).value();
  EXPECT_THAT(reader->names(), ElementsAre("v"));
  EXPECT_EQ(reader->Read("v").value().flat<int32_t>(), Rows(0, 6).flat<int32_t>());
  const Tensor middle = reader->ReadSlice("v", TensorSlice({{1, 3}, {}})).value();
  EXPECT_EQ(middle.flat<int32_t>(), Rows(1, 4).flat<int32_t>());
  const Tensor column = reader->ReadSlice("v", TensorSlice({{}, {1, 1}})).value();
  EXPECT_THAT(column.flat<int32_t>(), ElementsAre(1, 3, 5, 7, 9, 11));
}

TEST(Bundle, TellsMissingPartsAlsoWhereOthersOverlap) {
  const std::string prefix = FolderOfTest() + "/model";
  auto writer = BundleWriter::Create(prefix).value();
  ASSERT_TRUE(writer->AddSlice("v", {6, 2}, TensorSlice({{0, 4}, {}}), Rows(0, 4)).ok());
  ASSERT_TRUE(writer->AddSlice("v", {6, 2}, TensorSlice({{1, 4}, {}}), Rows(1, 5)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  auto reader = BundleReader::Open(prefix).value();
  EXPECT_THAT(reader->Read("v").status().message(), HasSubstr("sufficient slices"));
  EXPECT_EQ(reader->ReadSlice("v", TensorSlice({{0, 5}, {}})).value().flat<int32_t>(),
            Rows(0, 5).flat<int32_t>());
}

TEST(Bundle, MergesShardsAndTheirParts) {
  const std::string folder = FolderOfTest();
  const std::vector<std::string> parts = {folder + "/m_temp/part-0", folder + "/m_temp/part-1"};
  for (int i = 0; i < 2; ++i) {
    auto writer = BundleWriter::Create(parts[i]).value();
    ASSERT_TRUE(
        writer->AddSlice("v", {6, 2}, TensorSlice({{3 * i, 3}, {}}), Rows(3 * i, 3 * i + 3)).ok());
    ASSERT_TRUE(writer->Add(StrCat("own", i), Tensor::Scalar<int32_t>(i)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  ASSERT_TRUE(MergeBundles(parts, folder + "/m", {}).ok());
  EXPECT_THAT(FilesIn(folder),
              ElementsAre("m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"));
  auto reader = BundleReader::Open(folder + "/m").value();
  EXPECT_THAT(reader->names(), ElementsAre("own0", "own1", "v"));
  EXPECT_EQ(reader->Read("v").value().flat<int32_t>(), Rows(0, 6).flat<int32_t>());
  EXPECT_EQ(reader->Read("own1").value().scalar<int32_t>(), 1);
}

TEST(Bundle, MergesIntoOneOfTheSources) {
  const std::string folder = FolderOfTest();
  for (const std::string& source : {folder + "/m", folder + "/./m", folder + "//m"}) {
    ASSERT_TRUE(Save(folder + "/m", {{"a", Tensor::Scalar(1.0f)}}).ok());
    ASSERT_TRUE(Save(folder + "/other", {{"b", Tensor::Scalar(2.0f)}}).ok());
    ASSERT_TRUE(MergeBundles({source, folder + "/other"}, folder + "/m", {}).ok());
    EXPECT_FALSE(FileExists(folder + "/other.index"));
    const auto reader = BundleReader::Open(folder + "/m");
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->Read("a").value().scalar<float>(), 1);
    EXPECT_EQ((*reader)->Read("b").value().scalar<float>(), 2);
  }
}

TEST(Bundle, AFailedSaveLeavesTheOldCheckpointAndNoRubbish) {
  const std::string folder = FolderOfTest();
  ASSERT_TRUE(Save(folder + "/m", {{"a", Tensor::Scalar(1.0f)}}).ok());
  {
    auto writer = BundleWriter::Create(folder + "/m").value();
    ASSERT_TRUE(writer->Add("a", Tensor::Scalar(2.0f)).ok());
    EXPECT_EQ(writer->Add("a", Tensor::Scalar(2.0f)).message(), "Adding duplicate key: a");
  }
  EXPECT_THAT(FilesIn(folder), ElementsAre("m.data-00000-of-00001", "m.index"));
  EXPECT_EQ(BundleReader::Open(folder + "/m").value()->Read("a").value().scalar<float>(), 1);
}

TEST(Bundle, SavingAgainUnderTheSameNameReplaces) {
  const std::string folder = FolderOfTest();
  for (float value : {1.0f, 2.0f, 3.0f}) {
    ASSERT_TRUE(Save(folder + "/m", {{"a", Tensor::Scalar(value)}}).ok());
    EXPECT_EQ(BundleReader::Open(folder + "/m").value()->Read("a").value().scalar<float>(), value);
    EXPECT_EQ(FilesIn(folder).size(), 2);
  }
}

TEST(Bundle, DataReachTheDiskBeforeTheIndexThatPointsToThem) {
  const std::string folder = FolderOfTest();
  std::vector<std::string> changes;
  SetFileHook([&](const FileChange& c) {
    constexpr const char* kKinds[] = {"create", "write", "sync",          "rename",
                                      "remove", "mkdir", "sync directory"};
    const std::string what = c.path.find("index") != c.path.npos   ? " index"
                             : c.path.find("data-") != c.path.npos ? " data"
                                                                   : "";
    std::string text = StrCat(kKinds[c.kind], what);
    if (changes.empty() || changes.back() != text) changes.push_back(text);
    return absl::OkStatus();
  });
  const absl::Status saved = Save(folder + "/m", {{"a", Tensor::Scalar(1.0f)}});
  SetFileHook(nullptr);
  ASSERT_TRUE(saved.ok());
  EXPECT_THAT(changes, ElementsAre("create data", "write data", "sync data", "create index",
                                   "write index", "sync index", "rename data", "sync directory",
                                   "rename index", "sync directory"));
}

TEST(Bundle, AnErrorAtAnyChangeLeavesTheOldCheckpointOrTheNew) {
  for (int failing = 0;; ++failing) {
    const std::string folder = FolderOfTest();
    ASSERT_TRUE(Save(folder + "/m", {{"a", Tensor::Scalar(1.0f)}}).ok());
    int changes = 0;
    SetFileHook([&](const FileChange&) {
      return changes++ == failing ? absl::UnavailableError("the disk is full") : absl::OkStatus();
    });
    const absl::Status saved = Save(folder + "/m", {{"a", Tensor::Scalar(2.0f)}});
    SetFileHook(nullptr);
    auto reader = BundleReader::Open(folder + "/m");
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto value = (*reader)->Read("a");
    ASSERT_TRUE(value.ok()) << "change " << failing << ": " << value.status();
    if (saved.ok()) {
      EXPECT_EQ(value->scalar<float>(), 2);
      EXPECT_GT(failing, 8);
      break;
    }
    EXPECT_EQ(saved.message(), "the disk is full");
  }
}

// Returns two variants, the second of which is empty.
Tensor Variants(const std::string& metadata) {
  pb::VariantTensorDataProto proto;
  proto.set_type_name("test::Class");
  proto.set_metadata(metadata);
  return Tensor::Vector<Variant>(
      {Variant(std::make_shared<SerializedVariant>("test::Class", proto.SerializeAsString())),
       Variant()});
}

std::vector<std::string> BytesOfVariants(const Tensor& tensor) {
  std::vector<std::string> bytes;
  for (const Variant& v : tensor.flat<Variant>()) {
    const auto* serialized = v.get<SerializedVariant>();
    bytes.push_back(serialized == nullptr ? "" : serialized->bytes());
  }
  return bytes;
}

TEST(Bundle, KeepsVariantsThatAreBytes) {
  const std::string prefix = FolderOfTest() + "/m";
  const Tensor saved = Variants(std::string(300, 'x'));
  ASSERT_TRUE(Save(prefix, {{"v", saved}, {"w", Tensor::Scalar(Variant())}}).ok());
  const auto reader = BundleReader::Open(prefix);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto read = (*reader)->Read("v");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->shape(), saved.shape());
  EXPECT_EQ(BytesOfVariants(*read), BytesOfVariants(saved));
  EXPECT_TRUE((*reader)->Read("w").value().scalar<Variant>().empty());
}

TEST(Bundle, EveryByteBecomesAValidBool) {
  const std::string prefix = FolderOfTest() + "/m";
  const Tensor bytes = Tensor::Vector<uint8_t>({0, 1, 2});
  ASSERT_TRUE(Save(prefix, {{"b", bytes.Bitcast(DT_BOOL)}}).ok());
  const auto reader = BundleReader::Open(prefix);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto read = (*reader)->Read("b");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->Bitcast(DT_UINT8).flat<uint8_t>(), ElementsAre(0, 1, 1));
}

TEST(Bundle, EveryDamagedByteIsAnErrorOrTheOldValue) {
  const std::string folder = FolderOfTest();
  const std::map<std::string, Tensor> saved = {{"a", Tensor::Vector<float>({1, 2, 3})},
                                               {"s", Tensor::Vector<std::string>({"x", "yz"})},
                                               {"v", Variants("state")}};
  ASSERT_TRUE(Save(folder + "/m", saved).ok());
  for (const std::string file : {"/m.index", "/m.data-00000-of-00001"}) {
    const std::string good = ReadWholeFile(folder + file).value();
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x41);
      ASSERT_TRUE(WriteFileAtomically(folder + file, bad).ok());
      const auto reader = BundleReader::Open(folder + "/m");
      if (!reader.ok()) continue;
      bool is_found = false;
      for (const auto& [name, tensor] : saved) {
        const auto read = (*reader)->Read(name);
        if (!read.ok()) {
          is_found = true;
        } else if (tensor.dtype() == DT_STRING) {
          EXPECT_EQ(read->flat<std::string>(), tensor.flat<std::string>());
        } else if (tensor.dtype() == DT_VARIANT) {
          EXPECT_EQ(BytesOfVariants(*read), BytesOfVariants(tensor));
        } else {
          EXPECT_EQ(read->flat<float>(), tensor.flat<float>());
        }
      }
      // A changed byte in the footer of the index may be part of its padding, which has no meaning.
      EXPECT_TRUE(is_found || file == "/m.index") << file << " byte " << i;
    }
    ASSERT_TRUE(WriteFileAtomically(folder + file, good).ok());
  }
}

TEST(V1, RefusesTypesThatTheFormatHasNoPlaceFor) {
  const std::string path = FolderOfTest() + "/old";
  V1Writer writer(path);
  ASSERT_TRUE(writer.Add("h", {}, TensorSlice(), Tensor::Scalar(half(1.5f))).ok());
  EXPECT_EQ(writer.Add("b", {}, TensorSlice(), Tensor::Scalar(bfloat16(1.5f))).message(),
            "Saving data type bfloat16 not yet supported");
}

TEST(V1, ReadsWhatItWrote) {
  const std::string path = FolderOfTest() + "/old";
  V1Writer writer(path);
  ASSERT_TRUE(writer.Add("v", {6, 2}, TensorSlice({{0, 2}, {}}), Rows(0, 2)).ok());
  ASSERT_TRUE(writer.Add("v", {6, 2}, TensorSlice({{2, 4}, {}}), Rows(2, 6)).ok());
  ASSERT_TRUE(writer.Add("c", {1}, TensorSlice::Full(1), Tensor::Vector<complex64>({{1, 2}})).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const auto reader = V1Reader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->ReadSlice("v", TensorSlice({{1, 3}, {}})).value().flat<int32_t>(),
            Rows(1, 4).flat<int32_t>());
  EXPECT_EQ(reader->ReadSlice("c", TensorSlice::Full(1)).value().data<complex64>()[0],
            complex64(1, 2));
  EXPECT_EQ(reader->Find("w").status().message(),
            StrCat("Tensor name \"w\" not found in checkpoint files ", path));
}

}  // namespace
}  // namespace sluice
