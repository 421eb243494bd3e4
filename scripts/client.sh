#!/bin/sh
# Holds the HTTP API against a client whose types are generated from docs/openapi.json: a small suite is compiled with them, and run against
# the real program. It needs Go, and Node 20 or later with npm, which fetches what package-lock.json names when that has changed.
set -eu
cd "$(dirname "$0")/../internal/api/client"
for program in go node npm; do
	if ! command -v "$program" >/dev/null 2>&1; then
		echo "the tests need $program for the client of the HTTP API, and it is not installed" >&2
		exit 1
	fi
done
if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
	echo "the tests need Node 20 or later for the client of the HTTP API; this is $(node --version)" >&2
	exit 1
fi
if grep -n '"resolved"' package-lock.json >&2; then
	echo "package-lock.json says from where packages were fetched; npm leaves that out by itself when it runs in $PWD" >&2
	exit 1
fi
if ! cmp -s package-lock.json node_modules/.installed; then
	npm ci
	cp package-lock.json node_modules/.installed
fi
rm -rf build
node_modules/.bin/openapi-typescript ../../../docs/openapi.json --output api.ts --root-types --root-types-no-schema-prefix
node_modules/.bin/tsc
go build -o build/sibyl ../../../cmd/sibyl
node --test --test-reporter=spec build/client.test.js
