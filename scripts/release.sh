#!/bin/sh
# Makes a release in dist/VERSION: sh scripts/release.sh VERSION [OS/ARCH…]. For each system, or those that are named, an archive with sibyl and sibyl-bert,
# static and stripped, manual pages, completions and licences; and SHA256SUMS over all. Whoever makes the same commit with the same Go gets the same sums.
set -eu
cd "$(dirname "$0")/.."
if [ -n "$(git status --porcelain)" ]; then
	echo "there is something here that is not committed: nobody else can make these files again" >&2
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
exec go run ./cmd/release "$@"
