#!/bin/sh
# Holds the MCP server against the suites of the MCP project. It needs Go, and Node 20 or later with npm, which fetches the suites when
# package-lock.json has changed, and the Node 22 that they run on. With --packages it fetches them, and no more.
set -eu
cd "$(dirname "$0")/../internal/mcp/conformance"
for program in go node npm; do
	if ! command -v "$program" >/dev/null 2>&1; then
		echo "the tests need $program for the suites of MCP, and it is not installed" >&2
		exit 1
	fi
done
if grep -n '"resolved"' package-lock.json >&2; then
	echo "package-lock.json says from where packages were fetched; npm leaves that out by itself when it runs in $PWD" >&2
	exit 1
fi
if ! cmp -s package-lock.json node_modules/.installed; then
	npm ci
	(cd node_modules/node && node installArchSpecificPackage.js) # the one script of a package that is run
	cp package-lock.json node_modules/.installed
fi
if [ "${1:-}" = --packages ]; then
	exit
fi
SIBYL_TEST_ALL=1 go test -count=1 -run 'Suites|AnyServer|Inspector' ..
