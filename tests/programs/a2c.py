"""Advantage actor-critic (Mnih et al., 2016) on poles that balance on carts."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
ENVIRONMENTS, STEPS, GAMMA, HIDDEN = 8, 5, 0.99, 64


class Carts:
    """Poles on carts (Barto, Sutton and Anderson, 1983), simulated with steps of 20 ms."""

    def __init__(self, count, seed):
        self._rng = np.random.RandomState(seed)
        self.state = self._rng.uniform(-0.05, 0.05, [count, 4])

    def step(self, actions):
        """Rewards, and which episodes ended. Those begin again."""
        x, v, angle, speed = self.state.T
        force = np.where(actions == 1, 10.0, -10.0)
        sine, cosine = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * speed**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        move = push - 0.05 * turn * cosine / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * move, angle + 0.02 * speed, speed + 0.02 * turn], 1)
        ended = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2095)
        self.state[ended] = self._rng.uniform(-0.05, 0.05, [ended.sum(), 4])
        return np.ones(len(ended)), ended


def network(observations):
    net = tf.layers.dense(observations, HIDDEN, tf.tanh)
    net = tf.layers.dense(net, HIDDEN, tf.tanh)
    return tf.layers.dense(net, 2), tf.squeeze(tf.layers.dense(net, 1), 1)


def train(run):
    tf.set_random_seed(1)
    observations, actions = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
    returns = tf.placeholder(tf.float32, [None])
    logits, values = network(observations)
    sampled = tf.squeeze(tf.random.categorical(logits, 1, seed=8), 1)
    log_p = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
    entropy = tf.reduce_mean(tf.reduce_sum(-tf.nn.softmax(logits) * tf.nn.log_softmax(logits), 1))
    policy_loss = -tf.reduce_mean(log_p * tf.stop_gradient(returns - values))
    loss = policy_loss + 0.5 * tf.reduce_mean(tf.square(returns - values)) - 0.01 * entropy
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train_op = tf.train.RMSPropOptimizer(0.003, decay=0.99, epsilon=1e-5).apply_gradients(zip(gradients, variables))

    carts = Carts(ENVIRONMENTS, 9)
    with tf.Session(run.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in run.steps():
            seen, done, rewards, ends = [], [], [], []
            for _ in range(STEPS):
                seen.append(carts.state)
                done.append(session.run(sampled, {observations: carts.state}))
                reward, end = carts.step(done[-1])
                rewards.append(reward)
                ends.append(end)
            value = session.run(values, {observations: carts.state})
            targets = []
            for reward, end in zip(rewards[::-1], ends[::-1]):
                value = reward + GAMMA * value * ~end
                targets.append(value)
            feed = {observations: np.concatenate(seen), actions: np.concatenate(done), returns: np.concatenate(targets[::-1])}
            _, step_loss = session.run([train_op, loss], feed)
            run.record(step_loss)
