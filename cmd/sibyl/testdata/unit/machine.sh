#!/bin/sh
# machine.sh WORK REPOSITORY: starts systemd as process 1, in namespaces of its own, on the files of this machine under a layer that is thrown away. On it the
# unit is set up by WORK/setup.sh. The network is this machine's. Whoever kills its process 1 ends all of it.
set -eu
work=$1 repository=$2
if [ "${3:-}" != inside ]; then
	mount --make-rprivate /
	# What systemd does with groups of processes stays in one of its own.
	mkdir "$work/groups"
	mount -t cgroup2 none "$work/groups"
	group=$work/groups/$(echo "$work" | tr / -)
	mkdir "$group"
	echo $$ >"$group/cgroup.procs"
	exec unshare --cgroup --pid --fork --kill-child --mount --uts --ipc sh "$0" "$work" "$repository" inside
fi

mkdir "$work/disk"
mount -t tmpfs none "$work/disk"
cd "$work/disk"
mkdir above scratch root
mount -t overlay none -o "lowerdir=/,upperdir=above,workdir=scratch" root
cd root
mkdir -p mnt/test mnt/repository mnt/old
mount --bind "$work" mnt/test
mount --bind "$repository" mnt/repository
for folder in dev run tmp usr/lib/systemd/system usr/lib/systemd/system-generators etc/systemd/system; do
	mount -t tmpfs none "$folder"
done
for device in null zero full random urandom tty; do
	touch "dev/$device"
	mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts dev/mqueue dev/hugepages
mount -t devpts -o ptmxmode=0666 none dev/pts
ln -s pts/ptmx dev/ptmx
mount -t proc none proc
mount -t sysfs none sys
mount -t cgroup2 none sys/fs/cgroup
chmod 1777 tmp
pivot_root . mnt/old
umount -l /mnt/old

for target in sysinit basic shutdown network-online; do
	printf '[Unit]\nDefaultDependencies=no\n' >"/usr/lib/systemd/system/$target.target"
done
(
	umask 022
	mkdir /tmp/source
	cd /tmp/source
	ln -s /mnt/repository/deploy .
	cp /mnt/test/bin/sibyl .
	sudo() { "$@"; }
	. /mnt/test/setup.sh
) >&2
exec env -i PATH="$PATH" container=test /lib/systemd/systemd --system --unit=test.target --show-status=no
