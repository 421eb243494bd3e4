package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lookAtPlace looks at the file system of an existing path.
func lookAtPlace(path string) (place, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return place{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return place{system: unix.ByteSliceToString(fs.Fstypename[:]), mount: fmt.Sprint(fs.Fsid.Val),
		shared: fs.Flags&unix.MNT_LOCAL == 0}, nil
}

// thisMachine names this machine, and the time since it was booted; "" if they are unknown.
func thisMachine() (machine, boot string) {
	boot, _ = unix.Sysctl("kern.bootsessionuuid")
	return "", boot
}
