package store

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The numbers of file systems that x/sys lacks, from their sources.
const (
	aufsMagic  = 0x61756673
	gfs2Magic  = 0x01161970
	ubifsMagic = 0x24051905
	zfsMagic   = 0x2FC12FC1
)

// lookAtPlace looks at the file system of an existing path.
func lookAtPlace(path string) (place, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return place{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err != nil {
		return place{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return placeOf(uint32(fs.Type), file.Dev), nil //nolint:gosec // the number has 32 bits everywhere
}

// placeOf is the place with a number of a file system, as statfs gives it, and a device, as stat gives it.
func placeOf(magic uint32, device uint64) place {
	mount := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	p := place{system: fmt.Sprintf("file system %#x", magic), mount: mount, shared: isShared(magic, device)}
	if p.shared {
		if name := mountedAs(mount); name != "" {
			p.system = name
		}
	}
	return p
}

// isShared says whether others may write to a file system. On a disk of this machine nobody can, unless it is made for
// disks that several machines write to. Without a disk (major number 0) only those are known to be safe that keep their
// data in this kernel or on disks of it.
func isShared(magic uint32, device uint64) bool {
	switch magic {
	case gfs2Magic, unix.OCFS2_SUPER_MAGIC:
		return true
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.HUGETLBFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, aufsMagic,
		unix.BTRFS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, zfsMagic, ubifsMagic, unix.ECRYPTFS_SUPER_MAGIC:
		return false
	}
	return unix.Major(device) == 0
}

// mountedAs returns the type of the mount with a device, such as nfs4 or fuse.sshfs; "" if it is unknown. See proc(5).
func mountedAs(mount string) (system string) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // nothing was written
	for lines := bufio.NewScanner(f); lines.Scan(); {
		about, of, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(about), strings.Fields(of)
		if len(fields) > 2 && fields[2] == mount && len(kind) > 0 {
			system = kind[0] // the last is on top
		}
	}
	return system
}

// thisMachine names this machine, and the time since it was booted; "" if they are unknown.
func thisMachine() (machine, boot string) {
	id, _ := os.ReadFile("/etc/machine-id")
	since, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), strings.TrimSpace(string(since))
}
