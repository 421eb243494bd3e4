#!/bin/sh
# Passes what scripts/test.sh leaves out since it takes long: the page's own tests; a generated client of the HTTP API; the MCP project's
# suites; the matrices of crashes and faults; the figures of searches; what must hold on every store, on PostgreSQL; nodes that are lost; and
# with a C compiler, the tests for data races. It needs what scripts/test.sh needs.
set -eu
cd "$(dirname "$0")/.."
sh scripts/programs.sh
sh scripts/web.sh
sh scripts/client.sh
sh scripts/mcp.sh

# A test says itself what it waited for too long; how fast the machine is makes no difference.
export GOFLAGS="${GOFLAGS-} -vet=off -timeout=60m"
atonce=$((1 + $(getconf _NPROCESSORS_ONLN)))
# What -short makes shorter or leaves out. SIBYL_LONG=1 has every call and every write, for some hours.
go test -run 'Killed|Whatever|Machine' ./cmd/sibyl
go test -run 'Scripts/first_minutes' ./cmd/sibyl
go test -p "$atonce" -run 'Crash|Killed|Attack|NoNote|Any|EverySignal|FindTheirFiles|FirstPassage' \
	./internal/oracle ./internal/council/session ./internal/tool/code ./cmd/sibyl-eval/scores/find
go test -p "$atonce" -run 'StaysSmall|OfflineFigures' ./internal ./cmd/sibyl-eval/scores/command
export SIBYL_TEST_STORE=postgres
go test -p "$atonce" ./internal/behaviour/nodes ./internal/run ./internal/taskchat
# The page speaks to the API alone: on PostgreSQL, one story of each assistant, of two people, and of what breaks off.
go test -run 'QuestionIsAnswered|TaskIsAdded|GoesOnAfterAReload|TwoTabs|SideBySide|IsFollowedAfterAReload|ComesBack|Revoked|Interrupted|SetAside' ./web/stories
go test -run Crash ./internal/oracle
unset SIBYL_TEST_STORE

if command -v gcc >/dev/null 2>&1; then
	# SQLite is not looked at for races: that takes three times as long, and its program is not ours.
	CGO_ENABLED=1 go test -p "$atonce" -short -race -gcflags=modernc.org/...=-race=false ./internal/oracle ./internal/run/... \
		./internal/journal/... ./internal/model/... ./internal/media/scribe ./internal/taskchat ./internal/mcp ./internal/tool/mcpclient
fi
