#!/bin/sh
# Installs the programs that the tests use, on Debian and what is made of it: flite speaks, ffmpeg makes every format of audio, pocketsphinx writes
# down what is said; PostgreSQL's servers are started and ended by the tests; zip packs a release for Windows.
set -eu
missing=
for program in flite ffmpeg zip; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if ! command -v pocketsphinx_continuous >/dev/null 2>&1; then
	missing="$missing pocketsphinx pocketsphinx-en-us"
fi
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
	missing="$missing postgresql"
fi
if [ -z "$missing" ]; then
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "the tests need$missing, and there is no apt-get here to install it with; install it by hand, so that it is on the PATH" >&2
	exit 1
fi
as=
if [ "$(id -u)" != 0 ]; then
	as="sudo -n"
fi
# The lists of packages may be old or missing, so they are fetched when a first try fails.
install() {
	# shellcheck disable=SC2086 # each is a word of its own
	DEBIAN_FRONTEND=noninteractive $as apt-get install -q -y --no-install-recommends $missing >&2
}
if ! install && ! { $as apt-get update -q >&2 && install; }; then
	echo "the tests need$missing, and apt-get could not install it, for the reason above; install it by hand, so that it is on the PATH" >&2
	exit 1
fi
