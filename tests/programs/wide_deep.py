"""Wide and deep model of a table in CSV: an Estimator with feature columns."""

import os

import numpy as np
import tensorflow

from tests.programs.run import EstimatorHook

tf = tensorflow.compat.v1
COLUMNS = ["age", "workclass", "education", "education_num", "occupation", "hours", "gain", "label"]
DEFAULTS = [[0.0], [""], [""], [0.0], [""], [0.0], [0.0], [""]]
EDUCATION = ["Bachelors", "HS-grad", "11th", "Masters", "9th", "Some-college", "Assoc-acdm", "Doctorate"]
WORKCLASS = ["Private", "Self-emp", "Federal-gov", "State-gov", "Without-pay"]
JOBS = ["job-%d" % i for i in range(40)]


def write_table(path, rows):
    rng = np.random.RandomState(3)
    with open(path + ".new", "w") as f:
        for _ in range(rows):
            age, years, job = rng.randint(17, 80), rng.randint(1, 17), rng.randint(0, len(JOBS))
            rich = 0.05 * (age - 40) + 0.4 * (years - 9) + (job % 5) - 2 + rng.randn() > 0
            f.write("%d,%s,%s,%d,%s,%d,%d,%s\n" % (
                age, WORKCLASS[rng.randint(0, 5)], EDUCATION[years % 8], years, JOBS[job], rng.randint(10, 70),
                rng.choice([0, 0, 0, 2174, 5013]), ">50K" if rich else "<=50K"))
    os.rename(path + ".new", path)


def columns():
    c = tensorflow.feature_column
    age = c.numeric_column("age")
    education_num, hours = c.numeric_column("education_num"), c.numeric_column("hours", normalizer_fn=lambda x: x / 40)
    gain = c.numeric_column("gain", normalizer_fn=lambda x: tf.log1p(x))
    education = c.categorical_column_with_vocabulary_list("education", EDUCATION)
    workclass = c.categorical_column_with_vocabulary_list("workclass", WORKCLASS, num_oov_buckets=2)
    occupation = c.categorical_column_with_hash_bucket("occupation", 100)
    age_buckets = c.bucketized_column(age, [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    wide = [education, workclass, occupation, age_buckets,
            c.crossed_column(["education", "occupation"], 1000),
            c.crossed_column([age_buckets, "education", "occupation"], 1000)]
    deep = [age, education_num, hours, gain, c.indicator_column(workclass), c.indicator_column(education), c.embedding_column(occupation, 8)]
    return wide, deep


def train(run):
    path = run.path("census.csv")
    if not os.path.exists(path):
        write_table(path, 5000)

    def parse(line):
        features = dict(zip(COLUMNS, tf.decode_csv(line, DEFAULTS)))
        return features, tf.equal(features.pop("label"), ">50K")

    def input_fn():
        dataset = tf.data.TextLineDataset(path).shard(run.replicas, run.replica)
        dataset = dataset.shuffle(1000, seed=5).map(parse, num_parallel_calls=2)
        return dataset.repeat().batch(40).prefetch(1)

    wide, deep = columns()
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[100, 50],
        config=run.estimator_config(save_checkpoints_steps=1000, log_step_count_steps=1000))
    estimator.train(input_fn, hooks=[EstimatorHook(run)])
