#!/bin/sh
# Prints the licences of all that programs are made of, as these ask to be handed on: sh scripts/licences.sh PACKAGE… GOOS and GOARCH say for which system.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}{{end}}{{end}}' "$@" >"$work/all"
sort -u "$work/all" >"$work/parts"
# What is no module: Go's library, what is taken from gitleaks, and what is built into the page.
cat >>"$work/parts" <<end
Go and its standard library $(go env GOVERSION)|$(go env GOROOT)
rules of gitleaks v8.30.0|internal/redact
Svelte $(sed -n 's/.*"svelte": "\([^"]*\)".*/\1/p' web/package.json), jsdiff $(sed -n 's/.*"diff": "\([^"]*\)".*/\1/p' web/package.json) and Temml $(sed -n 's/.*"temml": "\([^"]*\)".*/\1/p' web/package.json)|web
end

rule=$(printf '%080d' 0 | tr 0 =)
echo "The programs are made of these parts of others, too."
while IFS='|' read -r name dir; do
	find "$dir" -maxdepth 1 -type f | grep -Ei '/(un)?(licen[sc]e|copying|notice|patents)[^/]*$' | sort >"$work/files"
	if [ ! -s "$work/files" ]; then
		echo "$name has no licence at its top: it must not be handed on without one" >&2
		exit 1
	fi
	while IFS= read -r file; do
		printf '\n%s\n%s: %s\n\n' "$rule" "$name" "$(basename "$file")"
		tr -d '\r' <"$file"
	done <"$work/files"
done <"$work/parts"
