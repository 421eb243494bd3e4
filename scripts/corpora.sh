#!/bin/sh
# Fetches the modules that eval/find and eval/oracle ask about: a search in others would give other figures.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC2046 # each is a word of its own
go mod download github.com/pressly/goose/v3@v3.28.0 $(sed -n 's/.*"corpus": *"\([^"]*@[^"]*\)".*/\1/p' eval/find/*.jsonl eval/find/open/*.jsonl | sort -u)
