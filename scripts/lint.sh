#!/bin/sh
# Runs the linters of .golangci.yml, in the version that the project is clean with. The first run builds them.
set -eu
cd "$(dirname "$0")/.."
version=v2.13.2
bin=$PWD/.cache/bin
if [ ! -x "$bin/golangci-lint-$version" ]; then
	mkdir -p "$bin"
	GOBIN=$bin GOFLAGS= go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
	mv "$bin/golangci-lint" "$bin/golangci-lint-$version"
fi
exec "$bin/golangci-lint-$version" run ./...
