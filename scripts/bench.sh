#!/bin/sh
# Prints the times that the project watches. The machine's noise is in them: compare pairs of one run, not runs.
set -eu
cd "$(dirname "$0")/.."
bench() {
	go test -run '^$' -bench "$1" -benchtime "${3:-1s}" "$2" | grep -E '^(Benchmark|---|FAIL)' || exit 1
}
echo "tick of control nodes (aim: 9 ns a node)"
bench TickControlNodes ./internal/bt
echo "signals out of a stream (aim: 200 MB/s)"
bench Extract ./internal/signal
echo "composition of a prompt, warm (aim: 50 us)"
bench Compose ./internal/oracle/prompt
echo "classification of a question (aim: 1 ms)"
bench . ./internal/oracle/classify
echo "search of several words in the Go source tree, warm, without an index (aim: 300 ms)"
bench SearchGoTree ./internal/tool/code
echo "one append to the journal, synchronous=FULL"
bench AppendToFile ./internal/store
echo "whole runs in the journal alone, so many at once: SQLite, and PostgreSQL on a server whose commits wait for the disk"
bench Runs ./internal/store
echo "redaction of a text without secrets (aim: 1.5 GB/s)"
bench TextWithoutSecrets ./internal/redact
echo "first byte of an offline answer after the program's start (aim: 150 ms)"
bench FirstByte ./cmd/sibyl
echo "whole runs beside a bare client (at most 3.5 times its CPU alone, 3 times with 16 at once)"
bench '^BenchmarkRun$' ./internal/app 5x
echo "a turn beside its model (aim, SC-007: 5 ms, and 10 % with a model of 100 ms)"
bench '^BenchmarkTurn$' ./internal/app
echo "signal of one response (aim, SC-008: 1 ms)"
bench '^BenchmarkResponse$' ./internal/signal
echo "ten thousand inquiries listed (aim: 200 ms)"
bench ListOf10000 ./internal/inquiry
