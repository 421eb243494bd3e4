#!/bin/sh
# Passes all tests on a machine that has Go, Node 20.19 or later with npm, and a shell. Go and npm fetch modules and packages themselves; flite, ffmpeg,
# pocketsphinx and chromium are installed by apt-get where they are missing. With a C compiler there, the packages that run things at the same time are
# tested for data races as well.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l cmd internal trees prompts eval web/*.go web/stories)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	exit 1
fi
go mod tidy -diff
go vet ./...
sh scripts/audio.sh
sh scripts/client.sh
sh scripts/web.sh
sh scripts/mcp.sh
go test ./...
# What must hold on every store: the suites of the run room and of the task assistant, and every effect killed at every write.
for store in sqlite postgres; do
	SIBYL_TEST_STORE=$store go test ./internal/run ./internal/taskchat
	SIBYL_TEST_STORE=$store go test -run Crash ./internal/oracle
done
SIBYL_TEST_STORE=postgres go test ./web/stories # the main flow of each view of the page; the others run on SQLite above
if command -v gcc >/dev/null 2>&1; then
	CGO_ENABLED=1 go test -race ./internal/run/... ./internal/journal/... ./internal/model/... ./internal/scribe ./internal/oracle ./internal/taskchat ./internal/mcp ./internal/tool/mcpclient
fi
