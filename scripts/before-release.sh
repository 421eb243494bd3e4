#!/bin/sh
# What a person runs before a release, beside .ci/run, for some hours: every case of every matrix, on both stores; heaps and long lists; equal releases;
# and every fuzz target for so many seconds (300 if none are named): sh scripts/before-release.sh [SECONDS].
set -eu
cd "$(dirname "$0")/.."
sh scripts/programs.sh
sh scripts/web.sh --packages
sh scripts/mcp.sh --packages
sh scripts/corpora.sh
export SIBYL_TEST_ALL=1 SIBYL_LONG=1
go test -vet=off -timeout=0 ./...
go test -vet=off -timeout=0 -count=20 -run 'AtAFailover' ./internal/store
SIBYL_TEST_STORE=postgres go test -vet=off -timeout=0 ./internal/run ./internal/taskchat ./internal/oracle ./web/stories
sh scripts/reproduce.sh
sh scripts/fuzz.sh "${1:-300}"
