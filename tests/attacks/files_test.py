"""Clients that want files of the server's machine."""

import json
import os
import re
import subprocess
import unittest

from tests.attacks import attack

SECRET = "a secret of another program\n"


class FilesTest(attack.AttackTest):
    """The server owns `root`. `secret` and `outside` lie beside it, and the server's user may read and write them."""

    def start_server(self):
        for name in ("root", "outside"):
            os.mkdir(self.path(name))
            os.chmod(self.path(name), 0o777)
        for name in ("secret", "outside/secret", "root/open"):
            with open(self.path(name), "w", encoding="utf-8") as out:
                out.write(SECRET)
            os.chmod(self.path(name), 0o666)
        os.symlink("../outside", self.path("root/up"))
        os.symlink(self.path("outside"), self.path("root/absolute"))
        os.symlink("../secret", self.path("root/link"))
        os.mkfifo(self.path("root/fifo"))
        os.chmod(self.path("root/fifo"), 0o666)
        return super().start_server()

    def path(self, name):
        return os.path.join(self.folder, name)

    def check_outside(self):
        for name in ("secret", "outside/secret"):
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(file.read(), SECRET)
        self.assertEqual(os.listdir(self.path("outside")), ["secret"])


class RootTest(FilesTest):

    def server_flags(self):
        return ["--file_root=" + self.path("root")]

    def test_no_op_leaves_the_root(self):
        self.attack(leave_root, timeout_s=280)
        self.check_outside()

    def test_files_in_the_root_can_be_used(self):
        self.attack(use_root)


class NoFilesTest(FilesTest):
    flags = ["--no_files"]

    def test_no_op_uses_a_file(self):
        before = sorted(os.listdir(self.path("root")))
        self.attack(use_no_files)
        self.assertEqual(sorted(os.listdir(self.path("root"))), before)


class SpecialFilesTest(FilesTest):

    def test_a_fifo_or_device_is_not_opened(self):
        self.attack(open_special_files)

    def test_no_file_is_mapped(self):
        self.attack(map_files)

    def test_a_read_that_fails_is_an_error(self):
        self.attack(read_memory)


class CoverageTest(unittest.TestCase):

    def test_every_op_that_takes_a_path_is_tried(self):
        text = subprocess.run([attack.SLUICE, "ops", "--json"], check=True, capture_output=True, text=True).stdout
        takes_path = re.compile(r"^(filenames?|file_pattern|patterns|\w*_file|\w*path|\w*prefix|logdir|memory_region_name|output_stream)$")
        no_path = {"counter_prefix"}  # a part of names of metrics
        for op in map(json.loads, text.splitlines()):
            if any(takes_path.match(name) for name in set(op["inputs"] + op["attrs"]) - no_path):
                self.assertIn(re.sub(r"^Experimental|V2$", "", op["op"]), TRIED | OWN)


# The ops of file_ops.py, without versions.
TRIED = set("""ReadFile TextLineDataset TFRecordDataset FixedLengthRecordDataset CSVDataset InitializeTableFromTextFile Restore RestoreSlice
    LoadAndRemapMatrix GenerateVocabRemapping FixedUnigramCandidateSampler ImmutableConst Skipgram WriteFile Save SaveSlices MergeV2Checkpoints
    CacheDataset CreateSummaryFileWriter Print MatchingFilesDataset RecordInput LMDBDataset LoadDataset SqlDataset DatasetToTFRecord SaveDataset
    SnapshotDataset""".split())
# TensorFlow's client cannot build Sluice's own ops. These use bundles in the same way as SaveV2 and RestoreV2.
OWN = {"EmbeddingTableSave", "EmbeddingTableRestore"}


def expect_forbidden(server, ops, path, says):
    from tests.attacks import file_ops
    for name, make in ops.items():
        got = file_ops.outcome(server, make, path)
        if not isinstance(got, file_ops.tf.errors.OpError) or not re.search(says, got.message):
            raise AssertionError("%s of '%s': expected an error with '%s', got %s" % (name, path, says, getattr(got, "message", repr(got))))


def leave_root(server):
    from tests.attacks import file_ops
    everything = {**file_ops.READS, **file_ops.WRITES}
    forbidden = "outside of|symbolic link leaves|'..' is forbidden|maps no files"
    expect_forbidden(server, {**everything, **file_ops.LISTS}, server.folder + "/secret", forbidden)
    expect_forbidden(server, everything, server.folder + "/root/../secret", forbidden)
    for way in ("up/secret", "absolute/secret"):
        # Patterns, which old checkpoints are, match nothing behind such a link, and no file exists there.
        expect_forbidden(server, everything, server.folder + "/root/" + way, forbidden + "|any matching files|did not exist|Could not find metadata")
    expect_forbidden(server, {"ReadFile": everything["ReadFile"]}, server.folder + "/root/link", forbidden)
    for pattern in ("/root/up/*", "/root/absolute/*"):
        found = file_ops.outcome(server, file_ops.LISTS["MatchingFiles"], server.folder + pattern)
        if len(found) != 0:
            raise AssertionError("%s lists %s" % (pattern, found))


def use_root(server):
    from tests.attacks import file_ops
    tf = file_ops.tf
    root = server.folder + "/root/"

    def restored(save, restore):
        with tf.control_dependencies([save]):
            return restore()

    for path in ("open", root + "open", "file://" + root + "open"):
        if file_ops.outcome(server, tf.io.read_file, path) != SECRET.encode():
            raise AssertionError(path)
    written = file_ops.outcome(server, lambda path: restored(tf.io.write_file(path, "text"), lambda: tf.io.read_file(path)), root + "new/deep/a")
    if written != b"text":
        raise AssertionError(repr(written))
    saved = file_ops.outcome(server, lambda path: restored(file_ops.WRITES["SaveV2"](path), lambda: file_ops.READS["RestoreV2"](path)), root + "ckpt/v")
    if saved[0].tolist() != [1.0]:
        raise AssertionError(repr(saved))
    found = file_ops.outcome(server, tf.io.matching_files, root + "o*")
    if found.tolist() != [(root + "open").encode()]:
        raise AssertionError(repr(found))


def use_no_files(server):
    from tests.attacks import file_ops
    expect_forbidden(server, {**file_ops.READS, **file_ops.WRITES, **file_ops.LISTS}, server.folder + "/root/open", "uses no files")


def open_special_files(server):
    from tests.attacks import file_ops
    reads = {name: make for name, make in file_ops.READS.items()
             if name in ("ReadFile", "TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset", "CSVDataset", "WholeFileReader", "TextLineReader",
                         "InitializeTableFromTextFile", "GenerateVocabRemapping", "FixedUnigramCandidateSampler", "Skipgram")}
    for path in (server.folder + "/root/fifo", "/dev/zero"):
        expect_forbidden(server, reads, path, "expected a regular file")


def map_files(server):
    from tests.attacks import file_ops
    mapping = {"ImmutableConst": file_ops.READS["ImmutableConst"]}
    expect_forbidden(server, mapping, server.folder + "/root/open", "maps no files")


def read_memory(server):
    from tests.attacks import file_ops
    got = file_ops.outcome(server, file_ops.READS["ReadFile"], "/proc/self/mem")
    if not isinstance(got, file_ops.tf.errors.OpError):
        raise AssertionError("expected an error, got %s" % repr(got))
