#!/bin/sh
# Passes all tests on a machine that has Go and a shell. Modules are fetched by Go itself. With a C compiler there, the
# packages that run things at the same time are tested for data races as well.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l cmd internal trees prompts eval)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	exit 1
fi
go mod tidy -diff
go vet ./...
go test ./...
if command -v gcc >/dev/null 2>&1; then
	CGO_ENABLED=1 go test -race ./internal/run/... ./internal/journal/... ./internal/model/... ./internal/oracle
fi
