#!/bin/sh
# Installs the programs that the tests of .ci/run use, on Debian and what is made of it: flite speaks, ffmpeg makes every format of audio, pocketsphinx writes
# down what is said; bindfs mounts a folder a second time; PostgreSQL's servers and PgBouncer are started and ended by the tests, and so are nginx and systemd, for the files of deploy/; zip packs a release for Windows; the page is used in Chromium.
set -eu
missing=
for program in bash bindfs flite ffmpeg zip pgbouncer nginx; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if ! command -v pocketsphinx_continuous >/dev/null 2>&1; then
	missing="$missing pocketsphinx pocketsphinx-en-us"
fi
if ! command -v systemctl >/dev/null 2>&1; then
	missing="$missing systemd"
fi
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
	missing="$missing postgresql"
fi
if ! command -v chromium-headless-shell >/dev/null 2>&1 && ! command -v chromium >/dev/null 2>&1 && ! command -v google-chrome >/dev/null 2>&1; then
	missing="$missing chromium-headless-shell fonts-dejavu-core"
fi
if [ -z "$missing" ]; then
	exit 0
fi
as=
if [ "$(id -u)" != 0 ]; then
	as="sudo -n "
fi
command="${as}apt-get -o DPkg::Lock::Timeout=120 install -q -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "the tests need$missing, and there is no apt-get here to install it with; on Debian it is: $command" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# The lists of packages may be old or missing, so they are fetched when a first try fails.
# shellcheck disable=SC2086 # each is a word of its own
if ! $command >&2 && ! { ${as}apt-get -o DPkg::Lock::Timeout=120 update -q >&2 && $command >&2; }; then
	echo "the tests need$missing, and this failed, for the reason above: $command" >&2
	exit 1
fi
