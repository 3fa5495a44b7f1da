"""The audit log names the client, the graph and the files of each session."""

import json
import os
import signal
import unittest

from tests.attacks import attack


class AuditTest(attack.AttackTest):

    def server_flags(self):
        self.log = self.folder + "/audit.jsonl"
        return ["--audit_log=" + self.log]

    def lines(self, path=None):
        with open(path or self.log) as file:
            return [json.loads(line) for line in file]

    def uses_of_files(self):
        return [line for line in self.lines() if line["event"] == "file"]

    def test_sessions_graphs_and_files(self):
        self.attack(use_files, "first")
        self.attack(use_files, "first")
        mine = self.folder + "/first"
        used = [line for line in self.uses_of_files() if line["path"].startswith(mine)]
        sessions = sorted({line["session"] for line in used}, key=int)
        self.assertEqual(len(sessions), 2)
        for session in sessions:
            actions = [(line["action"], line["path"]) for line in used if line["session"] == session]
            self.assertIn(("write", mine + "/text"), actions)
            self.assertIn(("read", mine + "/text"), actions)
            self.assertGreaterEqual(actions.count(("read", mine + "/records")), 2)  # of the op and of the dataset
        write = next(line for line in used if line["action"] == "write")
        self.assertEqual(write["node"], "write_text")
        of = {session: [line for line in self.lines() if line.get("session") == session and line["event"] != "file"]
              for session in sessions}
        for events in of.values():
            self.assertEqual([line["event"] for line in events], ["session_created", "graph_extended", "session_closed"])
            self.assertRegex(events[0]["client"], r"^ipv4:127\.0\.0\.1:\d+$")
            self.assertRegex(events[0]["graph_sha256"], r"^[0-9a-f]{64}$")
            self.assertEqual(events[2]["why"], "its client closed it")
        hashes = [[line["graph_sha256"] for line in events[:2]] for events in of.values()]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0][0], hashes[0][1])

    def test_a_renamed_log_is_opened_again(self):
        self.attack(use_files, "first")
        os.rename(self.log, self.log + ".1")
        self.attack(use_files, "second")
        self.process.send_signal(signal.SIGHUP)
        self.assertTrue(self._await(lambda: os.path.exists(self.log), 20))
        self.attack(use_files, "third")
        for path, names in [(self.log + ".1", {"first", "second"}), (self.log, {"third"})]:
            found = {line["path"].split("/")[3] for line in self.lines(path) if line["event"] == "file"}
            self.assertEqual(found & {"first", "second", "third"}, names)

    def test_a_log_that_cannot_be_written_is_an_error(self):
        server = self.start_server_with(["--audit_log=/no/such/folder/audit.jsonl"])
        out, _ = server.communicate(timeout=20)
        self.assertNotEqual(server.returncode, 0)
        self.assertNotIn("listening", out)

    def start_server_with(self, flags):
        self.server_flags = lambda: flags
        return self.start_server()


def use_files(server, name):
    import tensorflow
    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
    folder = server.folder + "/" + name
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    with tensorflow.io.TFRecordWriter(folder + "/records") as writer:
        writer.write(b"a")
    with tf.Session(server.target) as session:
        write = tf.io.write_file(folder + "/text", "text", name="write_text")
        session.run(write)
        read = tf.io.read_file(folder + "/text")
        records = tf.io.read_file(folder + "/records")
        iterator = tf.data.make_initializable_iterator(tf.data.TFRecordDataset([folder + "/records"]))
        element = iterator.get_next()
        assert session.run(read) == b"text"
        assert len(session.run(records)) > 1
        session.run(iterator.initializer)
        assert session.run(element) == b"a"


if __name__ == "__main__":
    unittest.main()
