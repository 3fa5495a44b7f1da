#include "demos/recommenders/log_files.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "fmt/format.h"
#include "graph/format/proto/example.pb.h"
#include "graph/status.h"
#include "ops/io/record_file.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

constexpr int64_t kRowsAtATime = 4096;
constexpr int64_t kReadBytes = 1 << 20;

enum class Format { kTfRecord, kCsv };

absl::StatusOr<Format> FormatOf(const std::string& path) {
  if (absl::EndsWith(path, ".tfrecord")) return Format::kTfRecord;
  SLUICE_INVALID_IF(!absl::EndsWith(path, ".csv"),
                    "a log: expected a name that ends in .tfrecord or .csv, got '", path, "'");
  return Format::kCsv;
}

std::string ExampleOf(const std::vector<Column>& columns, const Impressions& made, int64_t row) {
  pb::Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  for (size_t c = 0; c < columns.size(); ++c) {
    pb::Feature& feature = features[columns[c].name];
    for (int64_t i = row * columns[c].width; i < (row + 1) * columns[c].width; ++i) {
      const Tensor& column = made.columns[c];
      if (columns[c].dtype == DT_FLOAT) {
        feature.mutable_float_list()->add_value(column.data<float>()[i]);
      } else if (columns[c].dtype == DT_INT64) {
        feature.mutable_int64_list()->add_value(column.data<int64_t>()[i]);
      } else {
        feature.mutable_bytes_list()->add_value(column.data<std::string>()[i]);
      }
    }
  }
  return example.SerializeAsString();
}

std::string LineOf(const std::vector<Column>& columns, const Impressions& made, int64_t row) {
  std::string line;
  for (size_t c = 0; c < columns.size(); ++c) {
    for (int64_t i = row * columns[c].width; i < (row + 1) * columns[c].width; ++i) {
      const Tensor& column = made.columns[c];
      if (!line.empty()) line += ',';
      if (columns[c].dtype == DT_FLOAT) {
        line += fmt::format("{}", column.data<float>()[i]);
      } else if (columns[c].dtype == DT_INT64) {
        line += fmt::format("{}", column.data<int64_t>()[i]);
      } else {
        line += column.data<std::string>()[i];
      }
    }
  }
  return line;
}

}  // namespace

absl::Status WriteLog(const Log& log, int64_t first, int64_t count, const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const Format format, FormatOf(path));
  std::ofstream file(path, std::ios::binary);
  for (int64_t begin = first; begin < first + count; begin += kRowsAtATime) {
    const int64_t rows = std::min(kRowsAtATime, first + count - begin);
    const Impressions made = log.rows(begin, rows);
    for (int64_t row = 0; row < rows; ++row) {
      if (format == Format::kCsv) {
        file << LineOf(log.columns, made, row) << '\n';
        continue;
      }
      const std::string record = ExampleOf(log.columns, made, row);
      const RecordFrame frame(record);
      file << frame.header() << record << frame.footer();
    }
  }
  file.close();
  if (!file) return absl::UnavailableError(StrCat("cannot write the log '", path, "'"));
  return absl::OkStatus();
}

namespace {

// A dataset, and the type of its elements.
struct Source {
  Output dataset;
  std::vector<DataType> types;
  std::vector<PartialShape> shapes;

  Graph& graph() const { return *dataset.graph(); }
  Output Number(int64_t n) const { return Constant(graph(), n); }
};

Source LinesOf(Graph& g, Format format, const ReadOptions& o) {
  const Output files = Constant(g, Tensor::Vector<std::string>(o.files));
  const Output plain = Constant(g, std::string()), bytes = Constant(g, kReadBytes);
  Source s = {format == Format::kCsv ? TextLineDataset(files, plain, bytes)
                                     : TFRecordDataset(files, plain, bytes),
              {DT_STRING},
              {PartialShape::Scalar()}};
  if (o.shards > 1) {
    s.dataset = ShardDataset(s.dataset, s.Number(o.shards), s.Number(o.shard), s.types, s.shapes);
  }
  if (o.repeat) {
    s.dataset = ShuffleDataset(s.dataset, s.Number(o.shuffle_rows), s.Number(1), s.Number(2),
                               s.types, s.shapes);
    s.dataset = RepeatDataset(s.dataset, s.Number(-1), s.types, s.shapes);
  }
  s.shapes = {PartialShape({o.batch})};
  s.dataset = BatchDatasetV2(s.dataset, s.Number(o.batch), Constant(g, true), s.types, s.shapes);
  return s;
}

Tensor DefaultOf(const Column& column) { return Tensor(column.dtype, {0}); }

// Parses batches of Examples. The dataset's components are in the order of their names.
Source ExamplesOf(const Source& records, const Log& log, int64_t batch) {
  Source s = {records.dataset, {}, {}};
  std::vector<Column> columns = log.columns;
  std::sort(columns.begin(), columns.end(),
            [](const Column& a, const Column& b) { return a.name < b.name; });
  std::vector<std::string> names;
  std::vector<PartialShape> widths;
  OutputList defaults;
  for (const Column& c : columns) {
    names.push_back(c.name);
    widths.push_back({c.width});
    s.types.push_back(c.dtype);
    s.shapes.push_back({batch, c.width});
    defaults.push_back(Constant(s.graph(), DefaultOf(c)));
  }
  s.dataset = ParseExampleDatasetV2(records.dataset, s.Number(1), defaults, {}, names, {}, widths,
                                    s.types, s.shapes);
  return s;
}

OutputList NextOf(const Source& source) {
  Graph& g = source.graph();
  const Output ahead =
      PrefetchDataset(source.dataset, source.Number(4), source.types, source.shapes);
  const Output iterator = IteratorV2(g, "", "", source.types, source.shapes);
  g.AddToCollection(kTableInitializers, MakeIterator(ahead, iterator).name());
  return IteratorGetNext(iterator, source.types, source.shapes);
}

// The fields of a batch of lines, as one tensor per column.
OutputList DecodeLines(Output lines, const Log& log) {
  OutputList defaults;
  for (const Column& c : log.columns) {
    const Output required = Constant(*lines.graph(), DefaultOf(c));
    defaults.insert(defaults.end(), c.width, required);
  }
  const OutputList fields = DecodeCSV(lines, defaults);
  OutputList columns;
  if (fields.empty()) return columns;
  auto next = fields.begin();
  for (const Column& c : log.columns) {
    columns.push_back(Stack(OutputList(next, next + c.width), 1));
    next += c.width;
  }
  return columns;
}

}  // namespace

OutputList ReadLog(Graph& graph, const Log& log, const ReadOptions& options) {
  const absl::StatusOr<Format> format = FormatOf(options.files.empty() ? "" : options.files[0]);
  if (!format.ok()) {
    graph.SetError(format.status());
    return OutputList(log.columns.size());
  }
  NameScope scope(graph, "input");
  const Source lines = LinesOf(graph, *format, options);
  if (*format == Format::kCsv) return DecodeLines(NextOf(lines)[0], log);
  const OutputList sorted = NextOf(ExamplesOf(lines, log, options.batch));
  OutputList columns;
  for (const Column& column : log.columns) {
    const auto before = std::count_if(log.columns.begin(), log.columns.end(),
                                      [&](const Column& c) { return c.name < column.name; });
    columns.push_back(sorted[before]);
  }
  return columns;
}

}  // namespace sluice::recommenders
