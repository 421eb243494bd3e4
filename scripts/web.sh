#!/bin/sh
# Builds the page from web/src, checks it and its tests, and fails if what is committed in web/dist is not what comes out. It needs Node 20.19 or later with
# npm, which fetches what package-lock.json names when that has changed. With --write it writes web/dist instead of comparing; with --packages it fetches
# what is needed, and no more.
set -eu
cd "$(dirname "$0")/../web"
for program in node npm; do
	if ! command -v "$program" >/dev/null 2>&1; then
		echo "the page needs $program, and it is not installed" >&2
		exit 1
	fi
done
if grep -n '"resolved"' package-lock.json >&2; then
	echo "package-lock.json says from where packages were fetched; npm leaves that out by itself when it runs in $PWD" >&2
	exit 1
fi
if ! cmp -s package-lock.json node_modules/.installed; then
	npm ci
	cp package-lock.json node_modules/.installed
fi
if [ "${1:-}" = --packages ]; then
	exit
fi
node_modules/.bin/openapi-typescript ../docs/openapi.json --output src/lib/schema.ts
if [ "${1:-}" = --write ]; then
	node_modules/.bin/vite build
	exit
fi
node_modules/.bin/svelte-check --fail-on-warnings --tsconfig ./tsconfig.json
node_modules/.bin/vitest run
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
node_modules/.bin/vite build --outDir "$fresh" --emptyOutDir
if ! diff -r dist "$fresh"; then
	echo "web/dist is not what web/src makes: sh scripts/web.sh --write, and commit it" >&2
	exit 1
fi
