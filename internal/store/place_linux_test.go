package store

import (
	"testing"

	"golang.org/x/sys/unix"

	"sibyl/internal/behaviour/assert"
)

func TestFileSystemsThatOthersMayWriteTo(t *testing.T) {
	disk, none := unix.Mkdev(8, 1), unix.Mkdev(0, 42)
	for name, one := range map[string]struct {
		magic  uint32
		device uint64
		shared bool
	}{
		"ext4":                          {unix.EXT4_SUPER_MAGIC, disk, false},
		"xfs":                           {unix.XFS_SUPER_MAGIC, disk, false},
		"f2fs":                          {unix.F2FS_SUPER_MAGIC, disk, false},
		"vfat on a stick":               {unix.MSDOS_SUPER_MAGIC, disk, false},
		"ntfs-3g, FUSE on a disk":       {unix.FUSE_SUPER_MAGIC, disk, false},
		"one not known, on a disk":      {0x12345678, disk, false},
		"btrfs":                         {unix.BTRFS_SUPER_MAGIC, none, false},
		"bcachefs":                      {unix.BCACHEFS_SUPER_MAGIC, none, false},
		"zfs":                           {0x2FC12FC1, none, false},
		"ubifs":                         {0x24051905, none, false},
		"tmpfs":                         {unix.TMPFS_MAGIC, none, false},
		"ramfs":                         {unix.RAMFS_MAGIC, none, false},
		"overlay of a container":        {unix.OVERLAYFS_SUPER_MAGIC, none, false},
		"aufs of a container":           {0x61756673, none, false},
		"an encrypted home, ecryptfs":   {unix.ECRYPTFS_SUPER_MAGIC, none, false},
		"NFS":                           {unix.NFS_SUPER_MAGIC, none, true},
		"SMB, the first":                {unix.SMB_SUPER_MAGIC, none, true},
		"CIFS":                          {unix.CIFS_SUPER_MAGIC, none, true},
		"SMB2":                          {unix.SMB2_SUPER_MAGIC, none, true},
		"sshfs, s3fs, bindfs, virtiofs": {unix.FUSE_SUPER_MAGIC, none, true},
		"9p":                            {unix.V9FS_MAGIC, none, true},
		"Ceph":                          {unix.CEPH_SUPER_MAGIC, none, true},
		"AFS":                           {unix.AFS_SUPER_MAGIC, none, true},
		"the kernel's AFS":              {unix.AFS_FS_MAGIC, none, true},
		"Coda":                          {unix.CODA_SUPER_MAGIC, none, true},
		"Lustre":                        {0x0BD00BD0, none, true},
		"GPFS":                          {0x47504653, none, true},
		"VirtualBox's folders":          {0x786F4256, none, true},
		"Parallels' folders":            {0x7C7C6673, none, true},
		"VMware's folders":              {0xBACBACBC, none, true},
		"a disk that many have, GFS2":   {0x01161970, disk, true},
		"a disk that many have, OCFS2":  {unix.OCFS2_SUPER_MAGIC, disk, true},
		"one not known, without a disk": {0x12345678, none, true},
	} {
		assert.Equalf(t, placeOf(one.magic, one.device).shared, one.shared, "%s", name)
	}
}

func TestMountIsNamedAsTheSystemNamesIt(t *testing.T) {
	var proc unix.Stat_t
	assert.NoError(t, unix.Stat("/proc/self", &proc))
	assert.Equal(t, placeOf(0x12345678, proc.Dev).system, "proc")
	assert.Equal(t, placeOf(0x12345678, unix.Mkdev(0, 1<<19)).system, "file system 0x12345678")
}
