"""Clients that give ops inputs without a meaning."""

from tests.attacks import attack


class InputsTest(attack.AttackTest):

    def test_ops_reject_or_answer_them(self):
        self.attack(send_inputs, timeout_s=280)


def send_inputs(server):
    from tests.attacks import hostile_inputs
    tf = hostile_inputs.tf
    count = 0
    for name, make in hostile_inputs.everything().items():
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
            if any(part in name for part in hostile_inputs.REJECTED):
                raise AssertionError("%s: expected an error" % name)
    print(count, "inputs")
