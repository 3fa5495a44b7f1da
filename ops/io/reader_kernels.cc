// Kernels that make and use readers.
#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/io/byte_source.h"
#include "ops/io/reader.h"
#include "ops/io/reader_kernel.h"
#include "ops/io/record_file.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

std::string KeyOf(const std::string& work, int64_t i) { return StrCat(work, ":", i); }

class TextLineReader : public Reader {
 public:
  TextLineReader(const KernelInit& init, const std::string& name)
      : Reader("TextLineReader", name),
        skip_header_lines_(init.AttrOr<int64_t>("skip_header_lines", 0)) {}

 protected:
  absl::Status StartWork(const std::string& work) override {
    SLUICE_ASSIGN_OR_RETURN(file_, OpenFile(work));
    std::string line;
    for (line_ = 0; line_ < skip_header_lines_; ++line_) {
      SLUICE_ASSIGN_OR_RETURN(const bool any, file_->ReadLine(&line));
      if (!any) break;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool*) override {
    SLUICE_ASSIGN_OR_RETURN(const bool any, file_->ReadLine(&record->value));
    record->key = KeyOf(work, ++line_);
    return any;
  }
  void FinishWork() override { file_.reset(); }

 private:
  const int64_t skip_header_lines_;
  std::unique_ptr<ByteSource> file_;
  int64_t line_ = 0;
};

class FixedLengthRecordReader : public Reader {
 public:
  FixedLengthRecordReader(const KernelInit& init, const std::string& name)
      : Reader("FixedLengthRecordReader", name),
        header_(init.AttrOr<int64_t>("header_bytes", 0)),
        record_(static_cast<size_t>(init.AttrOr<int64_t>("record_bytes", 0))),
        footer_(static_cast<size_t>(init.AttrOr<int64_t>("footer_bytes", 0))),
        hop_(static_cast<size_t>(init.AttrOr<int64_t>("hop_bytes", 0))),
        compression_(*CompressionFromName(init.AttrOr<std::string>("encoding", ""))) {}

  static absl::Status Check(const KernelInit& init) {
    for (const char* attr : {"header_bytes", "record_bytes", "footer_bytes", "hop_bytes"}) {
      const int64_t bytes = init.AttrOr<int64_t>(attr, 0);
      SLUICE_INVALID_IF(bytes < 0, attr, " must be >= 0 not ", bytes);
    }
    // Rejects empty records, which TensorFlow would return without end.
    SLUICE_INVALID_IF(init.AttrOr<int64_t>("record_bytes", 0) == 0,
                      "record_bytes must be > 0 not 0");
    return CompressionFromName(init.AttrOr<std::string>("encoding", "")).status();
  }

 protected:
  absl::Status StartWork(const std::string& work) override {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(work));
    file_ = Unpack(std::move(file), compression_);
    ahead_.clear();
    index_ = 0;
    return file_->Skip(header_);
  }
  // Returns false if the rest of the file is shorter than a record and a footer.
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool*) override {
    const size_t bytes = record_ + footer_;
    if (ahead_.size() < bytes) {
      std::string more;
      SLUICE_RETURN_IF_ERROR(file_->Read(bytes - ahead_.size(), &more));
      ahead_ += more;
    }
    if (ahead_.size() < bytes) return false;
    record->key = KeyOf(work, index_++);
    record->value = ahead_.substr(0, record_);
    const size_t hop = hop_ == 0 ? record_ : hop_;
    const size_t dropped = std::min(hop, ahead_.size());
    ahead_.erase(0, dropped);
    const absl::Status skipped = file_->Skip(static_cast<int64_t>(hop - dropped));
    if (!skipped.ok() && !absl::IsOutOfRange(skipped)) return skipped;
    return true;
  }
  void FinishWork() override { file_.reset(); }

 private:
  const int64_t header_;
  const size_t record_;
  const size_t footer_;
  const size_t hop_;
  const StreamCompression compression_;
  std::unique_ptr<ByteSource> file_;
  std::string ahead_;
  int64_t index_ = 0;
};

class TfRecordReader : public Reader {
 public:
  TfRecordReader(const KernelInit& init, const std::string& name)
      : Reader("TFRecordReader", name),
        compression_(*CompressionFromName(init.AttrOr<std::string>("compression_type", ""))) {}

  static absl::Status Check(const KernelInit& init) {
    return CompressionFromName(init.AttrOr<std::string>("compression_type", "")).status();
  }

 protected:
  absl::Status StartWork(const std::string& work) override {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(work));
    records_ = std::make_unique<RecordReader>(Unpack(std::move(file), compression_));
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool*) override {
    record->key = KeyOf(work, records_->offset());
    absl::StatusOr<std::string> value = records_->Next();
    if (absl::IsOutOfRange(value.status())) return false;
    if (!value.ok()) return Annotate(value.status(), StrCat(work, ": "));
    record->value = *std::move(value);
    return true;
  }
  void FinishWork() override { records_.reset(); }

 private:
  const StreamCompression compression_;
  std::unique_ptr<RecordReader> records_;
};

class WholeFileReader : public Reader {
 public:
  WholeFileReader(const KernelInit&, const std::string& name) : Reader("WholeFileReader", name) {}

 protected:
  absl::Status StartWork(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool* is_last) override {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenFile(work));
    SLUICE_RETURN_IF_ERROR(file->ReadAll(&record->value));
    record->key = work;
    *is_last = true;
    return true;
  }
  bool HasState() const override { return true; }
};

class IdentityReader : public Reader {
 public:
  IdentityReader(const KernelInit&, const std::string& name) : Reader("IdentityReader", name) {}

 protected:
  absl::Status StartWork(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool* is_last) override {
    record->key = record->value = work;
    *is_last = true;
    return true;
  }
  bool HasState() const override { return true; }
};

KERNEL(FixedLengthRecordReader, ReaderKernel<FixedLengthRecordReader>);
KERNEL(FixedLengthRecordReaderV2, ReaderKernel<FixedLengthRecordReader>);
KERNEL(IdentityReader, ReaderKernel<IdentityReader>);
KERNEL(IdentityReaderV2, ReaderKernel<IdentityReader>);
KERNEL(TFRecordReader, ReaderKernel<TfRecordReader>);
KERNEL(TFRecordReaderV2, ReaderKernel<TfRecordReader>);
KERNEL(TextLineReader, ReaderKernel<TextLineReader>);
KERNEL(TextLineReaderV2, ReaderKernel<TextLineReader>);
KERNEL(WholeFileReader, ReaderKernel<WholeFileReader>);
KERNEL(WholeFileReaderV2, ReaderKernel<WholeFileReader>);

// --- reading

absl::Status OutputRecord(KernelContext& c, absl::StatusOr<Reader::Records> records) {
  if (!records.ok()) return records.status();
  c.set_output(0, Tensor::Scalar(std::move((*records)[0].key)));
  c.set_output(1, Tensor::Scalar(std::move((*records)[0].value)));
  return absl::OkStatus();
}

absl::Status OutputRecords(KernelContext& c, absl::StatusOr<Reader::Records> records) {
  if (!records.ok()) return records.status();
  const auto n = static_cast<int64_t>(records->size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * keys, c.AllocateOutput(0, {n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {n}));
  for (int64_t i = 0; i < n; ++i) {
    keys->data<std::string>()[i] = std::move((*records)[i].key);
    values->data<std::string>()[i] = std::move((*records)[i].value);
  }
  return absl::OkStatus();
}

// Reads one record, or several if the op has an input for their number.
class ReadKernel : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    auto reader = LookupNamed<Reader>(c, 0);
    if (!reader.ok()) return done(reader.status());
    auto queue = LookupNamed<QueueResource>(c, 1);
    if (!queue.ok()) return done(queue.status());
    if (c.num_inputs() == 2) {
      return (*reader)->Read(CallerOf(c), *std::move(queue),
                             [&c, done = std::move(done)](absl::StatusOr<Reader::Records> records) {
                               done(OutputRecord(c, std::move(records)));
                             });
    }
    const Tensor& count = c.input(2);
    if (!count.shape().IsScalar() || count.scalar<int64_t>() <= 0) {
      return done(InvalidArgument(c.node().Describe(),
                                  ": expected a positive scalar as num_records, got ",
                                  count.ToString()));
    }
    (*reader)->ReadUpTo(CallerOf(c), *std::move(queue), count.scalar<int64_t>(),
                        [&c, done = std::move(done)](absl::StatusOr<Reader::Records> records) {
                          done(OutputRecords(c, std::move(records)));
                        });
  }
};
KERNEL(ReaderRead, ReadKernel);
KERNEL(ReaderReadV2, ReadKernel);
KERNEL(ReaderReadUpTo, ReadKernel);
KERNEL(ReaderReadUpToV2, ReadKernel);

template <int64_t (Reader::*kCount)() const>
absl::Status OutputCount(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reader, LookupNamed<Reader>(c, 0));
  c.set_output(0, Tensor::Scalar((*reader.*kCount)()));
  return absl::OkStatus();
}
using NumRecordsProduced = FunctionKernel<OutputCount<&Reader::num_records_produced>>;
using NumWorkUnitsCompleted = FunctionKernel<OutputCount<&Reader::num_work_units_completed>>;
KERNEL(ReaderNumRecordsProduced, NumRecordsProduced);
KERNEL(ReaderNumRecordsProducedV2, NumRecordsProduced);
KERNEL(ReaderNumWorkUnitsCompleted, NumWorkUnitsCompleted);
KERNEL(ReaderNumWorkUnitsCompletedV2, NumWorkUnitsCompleted);

absl::Status ResetReader(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reader, LookupNamed<Reader>(c, 0));
  return reader->Reset();
}
KERNEL(ReaderReset, FunctionKernel<ResetReader>);
KERNEL(ReaderResetV2, FunctionKernel<ResetReader>);

absl::Status SerializeReaderState(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reader, LookupNamed<Reader>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(std::string state, reader->SerializeState());
  c.set_output(0, Tensor::Scalar(std::move(state)));
  return absl::OkStatus();
}
KERNEL(ReaderSerializeState, FunctionKernel<SerializeReaderState>);
KERNEL(ReaderSerializeStateV2, FunctionKernel<SerializeReaderState>);

absl::Status RestoreReaderState(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto reader, LookupNamed<Reader>(c, 0));
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "Reader state must be scalar, but had shape: "));
  return reader->RestoreState(c.input(1).scalar<std::string>());
}
KERNEL(ReaderRestoreState, FunctionKernel<RestoreReaderState>);
KERNEL(ReaderRestoreStateV2, FunctionKernel<RestoreReaderState>);

}  // namespace
}  // namespace sluice
