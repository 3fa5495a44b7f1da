#!/bin/bash
# The program's exit codes, JSON, help, and completion in bash and zsh.
set -u
sluice=$PWD/tools/sluice
cd "$TEST_TMPDIR"
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

# expect CODE PATTERN ARGUMENT...: the exit code, and a pattern that the output has.
expect() {
  local code=$1 pattern=$2 output found
  shift 2
  output=$("$sluice" "$@" 2>&1)
  found=$?
  [ $found -eq "$code" ] || fail "'sluice $*' ends with $found, not $code: $output"
  [[ $output == *"$pattern"* ]] || fail "'sluice $*' does not print '$pattern': $output"
}

# json EXPRESSION ARGUMENT...: the output is JSON, and the Python expression of it, `j`, is true.
json() {
  local expression=$1
  shift
  "$sluice" "$@" | python3 -c "import json, sys; j = json.load(sys.stdin); assert $expression, j" ||
    fail "'sluice $*': not $expression"
}

cat > graph.pbtxt <<'GRAPH'
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } }
node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
              float_val: 0.5 float_val: 4 } } } }
node { name: "y" op: "Square" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "bad" op: "CheckNumerics" input: "log" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "message" value { s: "found" } } }
node { name: "log" op: "Log" input: "neg" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "neg" op: "Neg" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
GRAPH

# 0: success. 1: the command failed. 2: the command line is wrong.
expect 0 "y:0 = Tensor<float, [2]: 0.25 16>" run graph.pbtxt --fetches=y:0
expect 0 "y:0 = Tensor<float, [2]: 0.25 16>" run graph.pbtxt --fetches y:0 --nojson
expect 1 "found : Tensor had NaN" run graph.pbtxt --fetches=bad
expect 1 NOT_FOUND run missing.pb
expect 1 NOT_FOUND inspect missing.pb
expect 2 "expected a command"
expect 2 "no command 'fly'" fly
expect 2 "unknown option '--fetch'" run graph.pbtxt --fetch=y:0
expect 2 "--steps: 'many' is not valid" run graph.pbtxt --steps=many
expect 2 "--out needs a value" run graph.pbtxt --out
expect 2 "takes one graph" run
expect 2 "See: sluice help run" run
expect 2 "takes one file" inspect
expect 2 "takes one graph" trace
expect 2 "needs targets" top
expect 2 "needs targets" stalls

# A token that is replaced is known by its first value, so two that are equal cannot be told apart.
(umask 077 && echo word > token && echo word > metrics_token)
expect 1 "expected another token than that of --token_file" server --port=0 --token_file=token \
  --metrics_token_file=metrics_token
expect 1 "cannot be opened: No such file" server --port=0 --audit_log=/no/such/folder/log
expect 2 "bash zsh, got 'fish'" completion fish

# A dashboard that other hosts reach needs a token, and TLS or --insecure.
printf 'barley\n' > token && chmod 600 token
top=(top grpc://127.0.0.1:1 --web=0 --web_bind=0.0.0.0)
expect 1 "shows the cluster to every client that reaches it: set --web_token_file" "${top[@]}"
expect 1 "set --web_token_file" "${top[@]}" --insecure
expect 1 "without TLS sends its token" "${top[@]}" --web_token_file=token
expect 1 "expected an IPv4 address" top grpc://127.0.0.1:1 --web=0 --web_bind=here --web_token_file=token --insecure

# A feed of an op without outputs.
echo 'node { name: "none" op: "NoOp" }' > none.pbtxt
python3 -c "
import zipfile
header = b\"{'descr': '<f4', 'fortran_order': False, 'shape': (), }\\n\"
array = b'\\x93NUMPY\\x01\\x00' + len(header).to_bytes(2, 'little') + header + bytes(4)
zipfile.ZipFile('none.npz', 'w').writestr('none.npy', array)"
expect 1 "none" run none.pbtxt --feeds=none.npz --targets=none

json 'j["y:0"] == {"dtype": "float", "shape": [2], "values": [0.25, 16]}' run graph.pbtxt --fetches=y:0 --json
json 'j["graphs"][0]["ops"]["Square"] == 1' inspect graph.pbtxt --json
json 'j["graphs"][0]["inputs"] == [{"name": "x", "op": "Placeholder", "outputs": [{"dtype": "float", "shape": [None, 3]}]}]' \
  inspect graph.pbtxt --json
json 'j["graphs"][0]["problem"] is None and j["graphs"][0]["nodes"] == 6' inspect graph.pbtxt --json
sed -i 's/"Square"/"Squire"/' graph.pbtxt
json 'j["graphs"][0]["unknown_ops"][0]["op"] == "Squire"' inspect graph.pbtxt --json

# Help lists every command with an example; a command's help lists its options.
for option in --help -h help; do
  for command in run trace inspect ops server top stalls; do
    expect 0 "\$ sluice $command" $option
  done
  expect 0 "Exit codes: 0 success; 1 the command failed; 2 the command line is wrong." $option
done
expect 0 "--without_passes=" help run
expect 0 "--without_passes=" run --help
expect 0 "--tls_ca=" help top
[[ $("$sluice" help run) == *--metrics_port* ]] && fail "'sluice help run' lists an option of the server"
undocumented=$("$sluice" help 2>&1 | grep -c '^  [a-z]')
[ "$undocumented" -ge 9 ] || fail "the overview has $undocumented commands"

# complete_bash WORDS...: what bash offers for the last word.
complete_bash() {
  COMP_WORDS=(sluice "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _sluice
  echo "${COMPREPLY[*]}"
}
source <("$sluice" completion bash) || fail "bash does not read its completion"
[ "$(complete_bash insp)" = inspect ] || fail "bash: insp completes to '$(complete_bash insp)'"
[ "$(complete_bash run --fee)" = --feeds ] || fail "bash: run --fee completes to '$(complete_bash run --fee)'"
[ "$(complete_bash run --metrics_p)" = "" ] || fail "bash: run offers an option of the server"
[ "$(complete_bash server --metrics_p)" = --metrics_port ] || fail "bash: no --metrics_port"
[ "$(complete_bash completion z)" = zsh ] || fail "bash: completion z"
[ "$(complete_bash help sta)" = stalls ] || fail "bash: help sta"

# zsh without its completion system: the functions that it would call print what they are given.
zsh_offers() {
  zsh -f -c 'compdef() { :; }; _files() { echo files; }; _describe() { print -l -- "${(@P)2}"; }
    source <($0 completion zsh) || exit 1
    words=(sluice "$@"); CURRENT=$#words; _sluice' "$sluice" "$@" || fail "zsh does not read its completion"
}
command -v zsh > /dev/null || fail "zsh is missing: tools/install installs it"
zsh_offers '' | grep -q '^inspect:' || fail "zsh offers no commands: $(zsh_offers '')"
zsh_offers run -- | grep -q '^--feeds:.*npz' || fail "zsh offers no options of run: $(zsh_offers run --)"
[ "$(zsh_offers run m)" = files ] || fail "zsh offers no files: $(zsh_offers run m)"
zsh_offers completion '' | grep -qx zsh || fail "zsh offers no shells"

[ $failures -eq 0 ] && echo PASS
exit $((failures > 0))
