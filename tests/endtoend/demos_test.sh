#!/usr/bin/env bash
# Checks the output of each demo. Writes one <testcase> per demo.
set -u
demos=$1
cases=
failures=0
check() {  # check NAME EXPECTED COMMAND…: the command succeeds and prints a line that matches
  local name=$1 expected=$2 output
  shift 2
  if output=$("$@" 2>&1) && grep -Eq "$expected" <<<"$output"; then
    cases+="<testcase name=\"$name\" classname=\"demos\"/>"
  else
    printf 'FAILED %s: expected %s in\n%s\n' "$name" "$expected" "$output"
    cases+="<testcase name=\"$name\" classname=\"demos\"><failure message=\"see the log\"/></testcase>"
    failures=$((failures + 1))
  fi
}
out=$TEST_TMPDIR
check LinearRegressionFindsThePlane 'loss 0\.0000.*w = \[(1|0\.999[0-9]*|1\.000[0-9]*) ' "$demos/linear_regression"
check QueueHandsOverEveryNumberInOrder '^100$' "$demos/queue"
check MlpReaches80PercentWithBackupReplicas 'test accuracy (8[0-9]|9[0-9])\.' "$demos/fashion_mnist" --steps=300 "--out=$out"
check AKilledWorkerIsMissedByNobodyAndJoinsAgain 'worker:3 joined again at step [0-9]+' "$demos/cluster" --ps=2 --workers=4 --sync --kill_one --steps=1800
check RecommenderTrainsOnThreeTasks 'step 30[0-9]  AUC 0\.[6-8]' "$demos/recommenders/recommender" --model=two_tower --tasks=3 --steps=300 --batch=128 --log_rows=20000 --keys_max=100 "--data=$out" "--out=$out"
check PicturesAreWritten '</svg>' cat "$out/learning_curve.svg" "$out/confusion_matrix.svg" "$out/two_tower.svg"
check MissingDataSaysHowToGetIt 'apt install dataset-fashion-mnist' bash -c "! '$demos/fashion_mnist' --data=/no/such"
printf '<testsuites><testsuite name="demos" failures="%d">%s</testsuite></testsuites>\n' "$failures" "$cases" >"$XML_OUTPUT_FILE"
exit "$failures"
