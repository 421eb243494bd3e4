#!/bin/sh
# Runs every fuzz target for so many seconds (30 if none are named), or those below the named folders: sh scripts/fuzz.sh [SECONDS [FOLDER…]].
# After each it says how much CPU time that took. What it finds is kept in the testdata/fuzz folder beside the target, and fails its tests from then on.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-30}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- internal
spent=$(mktemp)
trap 'rm -f "$spent"' EXIT
cpu() { # into $cpu: a shell of its own would have spent nothing
	times >"$spent"
	cpu=$(awk 'NR == 2 { for (i = 1; i <= NF; i++) { split($i, part, "m"); sum += part[1] * 60 + part[2] } print int(sum) }' "$spent")
}
failed=
for file in $(grep -rl --include='*_test.go' '^func Fuzz' "$@" | sort); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $target in $(dirname "$file")"
		cpu && before=$cpu
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" -fuzzminimizetime 2s "./$(dirname "$file")" || failed="$failed $target"
		cpu
		echo "== $target: $((cpu - before)) s of CPU time"
	done
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
