"""A test that Bazel rejects a target, because it uses a target that is not visible to it."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _rejected_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "is not visible from target")
    return analysistest.end(env)

visibility_rejection_test = analysistest.make(_rejected_impl, expect_failure = True)
