#!/bin/sh
# Passes all tests on a machine that has Go, Node 20.19 or later with npm, and a shell. Go and npm fetch modules and packages themselves; flite, ffmpeg,
# pocketsphinx, PostgreSQL and chromium are installed by apt-get where they are missing. With a C compiler there, the packages that run things at the same time are
# tested for data races as well. What go vet finds beyond what go test looks for is left to scripts/lint.sh.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l cmd internal trees prompts eval web/*.go web/stories)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	exit 1
fi
go mod tidy -diff
sh scripts/programs.sh

# together runs commands at the same time, shows what each of them said once it has ended, and fails if one of them did.
together() {
	pids=
	said=$(mktemp -d)
	trap 'rm -rf "$said"; kill 0' INT # what runs beside a script is not interrupted with it
	for command; do
		sh -euc "$command" >"$said/out$(echo "$pids" | wc -w)" 2>&1 &
		pids="$pids $!"
	done
	n=0
	failed=
	for pid in $pids; do
		wait "$pid" || failed=1
		cat "$said/out$n"
		n=$((n + 1))
	done
	rm -r "$said"
	trap - INT
	[ -z "$failed" ]
}
together 'sh scripts/client.sh' 'sh scripts/web.sh' 'sh scripts/mcp.sh'
# What eval/find and eval/oracle ask about: a search in other modules would give other figures.
# shellcheck disable=SC2046 # each is a word of its own
go mod download github.com/pressly/goose/v3@v3.28.0 $(sed -n 's/.*"corpus": *"\([^"]*@[^"]*\)".*/\1/p' eval/find/*.jsonl eval/find/open/*.jsonl | sort -u)

# Tests wait as well as compute, so one package more than there are cores is tested at once.
atonce=$((1 + $(getconf _NPROCESSORS_ONLN)))
# A package that is tested for data races is not tested without that as well, except for the oracle: it is tested for races in a short form, since that
# takes four times as long.
raced=
if command -v gcc >/dev/null 2>&1; then
	raced=$(go list ./internal/run/... ./internal/journal/... ./internal/model/... ./internal/scribe ./internal/taskchat ./internal/mcp ./internal/tool/mcpclient | tr '\n' ' ')
fi
# The longest begin first, and what scripts/mcp.sh has run is not run again.
longest=$(go list ./cmd/sibyl ./web/stories)
others=$(go list ./... | grep -vxF -e "$longest" -e "$(echo "$raced" | tr ' ' '\n')" -e "$(go list ./internal/mcp/conformance)")
# shellcheck disable=SC2086 # each is a word of its own
go test -p "$atonce" $longest $others
# What is left waits more than it computes, so all of it is done together: the tests for data races; and on PostgreSQL what must hold on every store,
# which is the suites of the run room and of the task assistant, every effect killed at every write, and what people do on the page.
# SQLite is not looked at for races: that takes three times as long, and its program is not ours.
unraced=-gcflags=modernc.org/...=-race=false
holds='go test ./internal/run ./internal/taskchat; go test -run Crash ./internal/oracle'
together \
	"export SIBYL_TEST_STORE=postgres; $holds" \
	'SIBYL_TEST_STORE=postgres go test ./web/stories' \
	${raced:+"CGO_ENABLED=1 go test -race '$unraced' $raced"} \
	${raced:+"CGO_ENABLED=1 go test -race '$unraced' -short ./internal/oracle"}
