// The kernel of readers of LMDB databases.
#include "ops/io/lmdb_database.h"
#include "ops/io/reader_kernel.h"

namespace sluice {
namespace {

class LmdbReader : public Reader {
 public:
  LmdbReader(const KernelInit&, const std::string& name) : Reader("LMDBReader", name) {}

 protected:
  absl::Status StartWork(const std::string& work) override {
    SLUICE_ASSIGN_OR_RETURN(database_, LmdbDatabase::Open(work));
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(const std::string&, Record* record, bool*) override {
    return database_->Next(&record->key, &record->value);
  }
  void FinishWork() override { database_.reset(); }

 private:
  std::unique_ptr<LmdbDatabase> database_;
};

KERNEL(LMDBReader, ReaderKernel<LmdbReader>);

}  // namespace
}  // namespace sluice
