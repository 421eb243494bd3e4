#!/bin/sh
# Makes a release of what is committed twice, in two folders, the second time with an empty build cache, and says whether the sums are equal:
# sh scripts/reproduce.sh [OS/ARCH…]. Without names it is made for linux/amd64, which takes some minutes.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- linux/amd64
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for copy in first second/below; do
	mkdir -p "$dir/$copy"
	git archive HEAD | tar -x -C "$dir/$copy"
done
(cd "$dir/first" && sh scripts/release.sh --out "$dir/a" 0.0.0-reproduced "$@")
(cd "$dir/second/below" && GOCACHE=$dir/cache sh scripts/release.sh --out "$dir/b" 0.0.0-reproduced "$@")
if ! diff "$dir/a/SHA256SUMS" "$dir/b/SHA256SUMS"; then
	echo "two releases of one commit differ" >&2
	exit 1
fi
cat "$dir/a/SHA256SUMS"
