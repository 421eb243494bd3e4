# For ‘. scripts/fast-environment.sh’: what makes the fast tests cheaper. Garbage is collected less often. Files are in memory, in the folder $memory, where
# 4 GB are free there and programs can be run: to make files and folders on a disk costs a third of the CPU time. Who sources it removes $memory at the end.
export GOGC="${GOGC:-400}"
memory=
if [ -z "${TMPDIR:-}" ] && memory=$(mktemp -d -p /dev/shm sibyl-tests-XXXXXX 2>/dev/null); then
	free=$(df -Pk "$memory" | { read -r _ && read -r _ _ _ free _ && echo "$free"; })
	chmod 755 "$memory" # some tests give up the rights of root
	if [ "$free" -ge 4194304 ] && cp "$(command -v env)" "$memory/env" && "$memory/env" >/dev/null 2>&1; then
		export TMPDIR="$memory"
	else
		rm -rf "$memory"
		memory=
	fi
fi
