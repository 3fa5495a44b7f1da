#!/usr/bin/env bash
# tools/thread_safety accepts correct code and rejects each kind of mistake, in a small tree of its
# own. Writes one <testcase> per check.
set -u
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/tools" "$tree/graph" "$tree/ops"
cp -L tools/thread_safety "$tree/tools"
cp -L graph/mutex.h "$tree/graph"
cp -L WORKSPACE "$tree"
cases=
failures=0

check() {  # check NAME CODE PATTERN: the analysis of the source from stdin ends with CODE and prints a line that matches
  local name=$1 code=$2 expected=$3 output actual
  { printf '#include "graph/mutex.h"\nnamespace sluice {\n'; cat; printf '}  // namespace sluice\n'; } >"$tree/ops/case.cc"
  output=$("$tree/tools/thread_safety" 2>&1)
  actual=$?
  if [ $actual -eq "$code" ] && grep -Eq "$expected" <<<"$output"; then
    cases+="<testcase name=\"$name\" classname=\"thread_safety\"/>"
  else
    printf 'FAILED %s: expected %s and %s, got %s and\n%s\n' "$name" "$code" "$expected" "$actual" "$output"
    cases+="<testcase name=\"$name\" classname=\"thread_safety\"><failure message=\"see the log\"/></testcase>"
    failures=$((failures + 1))
  fi
}

counter='Mutex mutex_; int count_ ABSL_GUARDED_BY(mutex_) = 0;'
check AnAccessWithTheLockIsAccepted 0 '1 files analysed, 0 errors' <<E2
class Counter { public: void Add() { ScopedLock lock(&mutex_); ++count_; } private: $counter };
E2
check AnAccessWithoutTheLockIsRejected 1 "writing variable 'count_' requires holding mutex 'mutex_'" <<E2
class Counter { public: void Add() { ++count_; } private: $counter };
E2
check AnAccessAfterUnlockIsRejected 1 "writing variable 'count_' requires holding mutex 'mutex_'" <<E2
class Counter { public: void Add() { ScopedLock lock(&mutex_); lock.Unlock(); ++count_; } private: $counter };
E2
check ACallWithoutTheRequiredLockIsRejected 1 "calling function 'AddLocked' requires holding mutex 'mutex_'" <<E2
class Counter {
 public:
  void Add() { AddLocked(); }
 private:
  void AddLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { ++count_; }
  $counter
};
E2
check AStandardLockIsRejected 1 "case.cc:3: expected sluice::Mutex, ScopedLock or CondVar, got 'std::mutex mutex;'" <<E2
std::mutex mutex;
E2
check ASuppressionNeedsAReason 1 'expected a comment that gives the reason for ABSL_NO_THREAD_SAFETY_ANALYSIS' <<E2
class Counter { public: void Add() ABSL_NO_THREAD_SAFETY_ANALYSIS { ++count_; } private: $counter };
E2
check ASuppressionWithAReasonIsAccepted 0 '0 errors' <<E2
class Counter {
 public:
  // Only one thread uses a counter before it is published.
  void Init() ABSL_NO_THREAD_SAFETY_ANALYSIS { count_ = 1; }
 private:
  $counter
};
E2
printf '<testsuites><testsuite name="thread_safety" failures="%d">%s</testsuite></testsuites>\n' "$failures" "$cases" >"$XML_OUTPUT_FILE"
exit "$failures"
