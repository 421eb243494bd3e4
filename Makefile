# The commands of daily work. Each is one line that also works without make.

.PHONY: build test test-long client mcp lint bench fuzz long release reproduce

build: ## the binary, in bin/
	go build -o bin/sibyl ./cmd/sibyl

test: ## what every change must pass, in some ten minutes
	sh scripts/test.sh

test-long: ## what takes longer: matrices of crashes, PostgreSQL, clients, races
	sh scripts/test-long.sh

client: ## the HTTP API as a generated client sees it; a part of test-long
	sh scripts/client.sh

mcp: ## the MCP project's suites; a part of test-long
	sh scripts/mcp.sh

lint: ## the linters, built on first use
	sh scripts/lint.sh

bench: ## times, printed
	sh scripts/bench.sh

fuzz: ## half a minute for each fuzz target
	sh scripts/fuzz.sh

long: ## every call and every write fails once, not some of them; takes an hour or more
	SIBYL_LONG=1 go test -timeout 4h -run 'Fail|Killed|Machine|Memory|Kept' ./cmd/sibyl

release: ## the archives of a release, in dist/VERSION: make release VERSION=1.2.3
	sh scripts/release.sh "$(VERSION)"

reproduce: ## a release of one system made twice, and the sums compared; takes some minutes
	sh scripts/reproduce.sh
