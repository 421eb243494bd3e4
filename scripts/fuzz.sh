#!/bin/sh
# Runs every fuzz target for half a minute, or for FUZZTIME.
set -eu
cd "$(dirname "$0")/.."
grep -rl --include='*_test.go' '^func Fuzz' internal | while read -r file; do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $target in $(dirname "$file")"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "./$(dirname "$file")"
	done
done
