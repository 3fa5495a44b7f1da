// Arbitrary bytes as a SavedModel are loaded or rejected. The variables of a loaded model are
// restored, from a good checkpoint if it names the same ones, and its init op runs.
//
// The first byte of an input says whether the others are a binary or a text file.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "executor/files/file_policy.h"
#include "executor/files/files.h"
#include "executor/session/session.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/format/proto/saved_model.pb.h"
#include "graph/strings.h"
#include "ops/checkpoint/bundle.h"
#include "training/checkpoint/saved_model.h"

namespace sluice {
namespace {

constexpr int kMaxGraphs = 3;
constexpr int64_t kStepMs = 50;  // an init op may wait forever

void Must(const absl::Status& status) {
  if (!status.ok()) std::abort();
}

// A folder with the variables of the models in the corpus. Nothing outside of it can be used.
const std::string& Folder() {
  static const std::string* folder = [] {
    google::protobuf::SetLogHandler(nullptr);  // its errors are returned as a status
    const bool has_memory = FileExists("/dev/shm");
    auto* name =
        new std::string(StrCat(has_memory ? "/dev/shm" : "/tmp", "/saved_model_fuzz_XXXXXX"));
    if (mkdtemp(name->data()) == nullptr) std::abort();
    for (const char* part : {"/binary", "/text"}) {
      std::filesystem::create_directories(StrCat(*name, part, "/variables"));
      auto variables = BundleWriter::Create(StrCat(*name, part, "/variables/variables"));
      Must(variables.status());
      Must((*variables)->Add("w", Tensor::Of<float>({2, 2}, {1, 2, 3, 4})));
      Must((*variables)->Add("b", Tensor::Vector<float>({5, 6})));
      Must((*variables)->Finish());
    }
    Must(SetFilePolicy({.root = *name}));
    return name;
  }();
  return *folder;
}

void Load(const std::string& folder, const std::vector<std::string>& tags) {
  Graph graph;
  const auto model = LoadSavedModel(folder, tags, graph);
  if (!model.ok()) return;
  for (const auto& signature : model->meta_graph().signature_def()) {
    model->FindSignature(signature.first).status().IgnoreError();
  }
  Session session(
      graph,
      {.operation_timeout_ms = kStepMs, .warn = [](const std::string&) {}, .stall_warning_ms = 0});
  model->Restore(session).IgnoreError();
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice;
  if (size == 0) return 0;
  const std::string folder = Folder() + (data[0] % 2 == 0 ? "/binary" : "/text");
  const std::string file = folder + (data[0] % 2 == 0 ? "/saved_model.pb" : "/saved_model.pbtxt");
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!std::ofstream(file, std::ios::binary).write(bytes.data(), bytes.size())) std::abort();
  const auto models = ReadSavedModel(folder);
  if (!models.ok()) return 0;
  for (int i = 0; i < std::min(models->meta_graphs_size(), kMaxGraphs); ++i) {
    const auto& tags = models->meta_graphs(i).meta_info_def().tags();
    Load(folder, {tags.begin(), tags.end()});
  }
  return 0;
}
