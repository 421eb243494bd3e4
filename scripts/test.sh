#!/bin/sh
# Passes the tests that every change must pass, in ten to twenty minutes on two cores. What takes longer is in scripts/test-long.sh.
# It needs Go, Node 20.19 or later with npm, and a shell. Go and npm fetch modules and packages themselves; flite, ffmpeg,
# pocketsphinx, PostgreSQL and chromium are installed by apt-get where they are missing. What go vet finds is left to scripts/lint.sh.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l cmd internal trees prompts eval web/*.go web/stories)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	exit 1
fi
go mod tidy -diff
sh scripts/programs.sh
sh scripts/web.sh --packages
# What eval/find and eval/oracle ask about: a search in other modules would give other figures.
# shellcheck disable=SC2046 # each is a word of its own
go mod download github.com/pressly/goose/v3@v3.28.0 $(sed -n 's/.*"corpus": *"\([^"]*@[^"]*\)".*/\1/p' eval/find/*.jsonl eval/find/open/*.jsonl | sort -u)

# The longest begin first. Tests wait as well as compute, so one package more than there are cores is tested at once.
longest=$(go list ./cmd/sibyl ./web/stories ./internal/oracle ./internal/api)
others=$(go list ./... | grep -vxF "$longest")
# shellcheck disable=SC2086 # each is a word of its own
go test -short -vet=off -timeout 60m -p "$((1 + $(getconf _NPROCESSORS_ONLN)))" $longest $others
