#!/bin/sh
# Makes a release in dist/VERSION, or the folder DIR: sh scripts/release.sh [--out DIR] VERSION [OS/ARCH…]. For each system, or those that are named, an
# archive with sibyl and sibyl-bert, static and stripped, manual pages, completions and licences; and SHA256SUMS over all. It needs GNU tar, gzip, zip
# and sha256sum. Whoever makes the same commit with the same Go gets the same files; and with the same packers the same sums.
set -eu
cd "$(dirname "$0")/.."

fail() {
	echo "release: $1" >&2
	exit 1
}

out=
if [ "${1-}" = --out ]; then
	out=${2-}
	shift 2
fi
version=${1-}
case $version in
*[!0-9A-Za-z.-]*) valid= ;;
*) valid=$(printf '%s\n' "$version" | grep -E '^v?[0-9]+\.[0-9]+\.[0-9]+(-.+)?$') || true ;;
esac
[ -n "$valid" ] || fail "“$version” is no version: call it as ‘sh scripts/release.sh 1.2.3 [OS/ARCH…]’"
shift
out=${out:-dist/$version}
[ ! -e "$out" ] || fail "$out is there already: remove it, or name another folder with --out"

known="linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
for target in "$@"; do
	case " $known " in
	*" $target "*) ;;
	*) fail "no release is made for “$target”; known are $known" ;;
	esac
done
# shellcheck disable=SC2086 # each is a word of its own
[ $# -gt 0 ] || set -- $known

if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
	echo "there is something here that is not committed: nobody else can make these files again" >&2
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct)}
# The times of zip begin in 1980.
[ "$SOURCE_DATE_EPOCH" -ge 315532800 ] 2>/dev/null ||
	fail "SOURCE_DATE_EPOCH is “$SOURCE_DATE_EPOCH”: it has to be the time of the release, in seconds since 1970, after 1980"

# Settings of the person that change what is built or packed don't count.
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C CGO_ENABLED=0 GOFLAGS='' GOWORK=off GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off
unset ZIPOPT GZIP TAR_OPTIONS GOOS GOARCH
umask 022

build() { # DIR PACKAGE…
	dir=$1
	shift
	go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$dir/" "$@"
}

# Made beside its place and moved there when it is whole, so that no half of a release is taken for one.
mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$(dirname "$out")/.release-XXXXXX")
work=$(cd "$work" && pwd)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/made" "$work/shared/completions" "$work/shared/man/man1"

# What the archives of all systems hold.
cp README.md LICENSE CHANGELOG.md "$work/shared/"
build "$work/here" ./cmd/sibyl
while read -r shell file; do
	"$work/here/sibyl" completion "$shell" >"$work/shared/completions/$file"
done <<-end
	bash sibyl.bash
	zsh _sibyl
	fish sibyl.fish
	powershell sibyl.ps1
end
go run ./cmd/manual "$version" "$work/shared/man/man1"

for target in "$@"; do
	echo "$target" >&2
	export GOOS="${target%/*}" GOARCH="${target#*/}"
	name=sibyl_${version}_${GOOS}_$GOARCH
	cp -R "$work/shared" "$work/$name"
	build "$work/$name" ./cmd/sibyl ./cmd/sibyl-bert
	sh scripts/licences.sh ./cmd/sibyl ./cmd/sibyl-bert >"$work/$name/THIRD-PARTIES.txt"
	chmod -R u=rwX,go=rX "$work/$name"
	find "$work/$name" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	(
		cd "$work"
		find "$name" -type f | sort >files
		if [ "$GOOS" = windows ]; then
			zip -q -9 -X "made/$name.zip" -@ <files
		else
			tar --format=ustar --owner=0 --group=0 --numeric-owner -cf "made/$name.tar" -T files
			gzip -9 -n "made/$name.tar"
		fi
	)
done
(cd "$work/made" && sha256sum sibyl_* >SHA256SUMS)
mv "$work/made" "$out"
