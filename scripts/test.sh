#!/bin/sh
# Passes the fast tests, in about three minutes on two cores. It needs Go, git, a shell and coreutils; Go fetches the modules itself. Tests that need other
# programs, or take long, are skipped: .ci/run has them, too. What go vet finds is left to scripts/lint.sh.
set -eu
cd "$(dirname "$0")/.."
unset SIBYL_TEST_ALL SIBYL_LONG SIBYL_TEST_STORE
. scripts/fast-environment.sh

unformatted=$("$(go env GOROOT)/bin/gofmt" -l cmd internal trees prompts eval web/*.go web/stories)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	exit 1
fi
# The longest begin first. Tests wait as well as compute, so one package more than there are cores is tested at once. Without symbols, binaries are linked
# in half the time. -short is read by rapid, which tries a fifth of the random cases.
go test -short -vet=off -ldflags='-s -w' -timeout 60m -p "$((1 + $(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)))" "$@" ./cmd/sibyl ./internal/api ./internal/oracle ./...
