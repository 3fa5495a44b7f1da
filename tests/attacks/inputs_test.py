"""Clients that give ops inputs without a meaning."""

import importlib

from tests.attacks import attack


class InputsTest(attack.AttackTest):

    def test_ops_reject_or_answer_them(self):
        self.attack(send_inputs, "hostile_inputs", timeout_s=280)

    def test_sizes_indices_and_shapes_that_do_not_fit(self):
        self.attack(send_inputs, "advisory_inputs", timeout_s=280)


def send_inputs(server, module):
    inputs = importlib.import_module("tests.attacks." + module)
    tf = inputs.tf
    count = 0
    for name, make in inputs.everything().items():
        with tf.Graph().as_default():
            try:
                fetch = make()
            except ValueError:  # the client itself rejects it
                continue
            count += 1
            try:
                with tf.Session(server.target) as session:
                    session.run(fetch, options=tf.RunOptions(timeout_in_ms=20000))
            except (tf.errors.UnavailableError, tf.errors.DeadlineExceededError, tf.errors.AbortedError) as error:
                raise AssertionError("%s: %s" % (name, error.message)) from error
            except tf.errors.OpError:
                continue
            if any(part in name for part in inputs.REJECTED):
                raise AssertionError("%s: expected an error" % name)
    print(count, "inputs")
