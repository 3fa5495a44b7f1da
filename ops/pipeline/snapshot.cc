// Ops for datasets that keep their elements in files, in TensorFlow's formats.
#include "ops/data/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void ComputesShards(OpDefBuilder& op) {
  op.Input("path", DT_STRING)
      .Input("shard_func_other_args", "Tshard_func_args")
      .Attr("compression", StringAttr(""))
      .Attr("shard_func", FunctionAttrDef())
      .Attr("use_shard_func", BoolAttr(true))
      .Attr("Tshard_func_args", TypeListAttr().Min(0));
}

OP(DatasetFingerprint,
   "Returns a number that is the same for datasets that are made in the same way. TensorFlow's "
   "numbers differ.")
    .Input("input_dataset", DT_VARIANT)
    .Output("fingerprint", DT_UINT64)
    .Shape(ScalarOutput());

OP(DatasetToTFRecord,
   "Writes the elements, which are strings, to a TFRecord file (compressed by ZLIB or GZIP, or "
   "not).")
    .Input("input_dataset", DT_VARIANT)
    .With(Inputs({"filename", "compression_type"}, DT_STRING))
    .Stateful()
    .Shape(NoOutputs());

OP(LoadDataset,
   "Reads a dataset that SaveDataset wrote. `reader_func` gets a dataset of the datasets of the "
   "shards and returns a dataset of the elements.")
    .Input("path", DT_STRING)
    .Input("reader_func_other_args", "Treader_func_args")
    .With(MakesDataset)
    .With(ElementAttrs)
    .Attr("compression", StringAttr(""))
    .Attr("reader_func", FunctionAttrDef())
    .Attr("Treader_func_args", TypeListAttr().Min(0))
    .Stateful();

OP(SaveDataset,
   "Writes all elements to files below `path`, each into the shard that `shard_func` returns.")
    .Input("input_dataset", DT_VARIANT)
    .With(ComputesShards)
    .Stateful()
    .Shape(NoOutputs());

OP(SaveDatasetV2, "Passes the elements through and writes them as SaveDataset does.")
    .With(TransformsDataset)
    .With(ComputesShards)
    .With(ElementAttrs)
    .Stateful();

OP(SnapshotDataset,
   "Writes the elements to files at the first reading. Later readings of a dataset that is made in "
   "the same way read the files. `mode` can require one of both.")
    .With(TransformsDataset)
    .Input("path", DT_STRING)
    .With(ElementAttrs)
    .With(Attrs({"compression", "reader_path_prefix", "writer_path_prefix"}, StringAttr("")))
    .Attr("shard_size_bytes", IntAttr(int64_t{10} << 30))
    .Attr("pending_snapshot_expiry_seconds", IntAttr(86400))
    .With(Attrs({"num_reader_threads", "reader_buffer_size", "num_writer_threads",
                 "writer_buffer_size"},
                IntAttr(1)))
    .Attr("shuffle_on_read", BoolAttr(false))
    .With(Attrs({"seed", "seed2"}, IntAttr(0)))
    .Attr("mode", StringAttr("auto"))
    .Attr("snapshot_name", StringAttr(""));

OP(SnapshotDatasetReader, "Reads a shard of a snapshot from element `start_index` on.")
    .Input("shard_dir", DT_STRING)
    .Input("start_index", DT_INT64)
    .With(MakesDataset)
    .With(ElementAttrs)
    .Attr("compression", StringAttr(""))
    .Attr("version", IntAttr());

OP(SnapshotDatasetV2,
   "Writes the elements to files at the first reading, each into the shard that `shard_func` "
   "returns. Later readings of a dataset that is made in the same way get the elements from "
   "`reader_func`, which gets a dataset of the datasets of the shards.")
    .With(TransformsDataset)
    .Input("path", DT_STRING)
    .Input("reader_func_other_args", "Treader_func_args")
    .Input("shard_func_other_args", "Tshard_func_args")
    .With(ElementAttrs)
    .With(Attrs({"compression", "reader_prefix", "writer_prefix"}, StringAttr("")))
    .Attr("hash_valid", BoolAttr(false))
    .Attr("hash", IntAttr(0))
    .With(Attrs({"reader_func", "shard_func"}, FunctionAttrDef()))
    .With(Attrs({"Treader_func_args", "Tshard_func_args"}, TypeListAttr().Min(0)))
    .With(Metadata);

OLDER_NAME(ExperimentalDatasetToTFRecord, DatasetToTFRecord);

}  // namespace
}  // namespace sluice
