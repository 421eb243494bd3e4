package sqlite

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes each page of a commit to the WAL by itself, after a header that it writes by itself. The VFS of this file is the
// system's, but that it holds what is written to a WAL until it does not follow, or SQLite syncs the WAL or asks anything of it.
// SQLite tells nobody of a commit that it has not synced where synchronous is FULL, and no less may be used with it.

// mostHeld is how many bytes are held at most. SQLite writes fewer than 128 KiB at once.
const mostHeld = 127 << 10

// vfs is a VFS as SQLite knows it, the one behind it, and the function that syncs a WAL, or 0 for the system's. It lies where SQLite's
// memory does, as wal does.
type vfs struct {
	sqlite3.Tsqlite3_vfs
	system sqlite3.Tsqlite3_vfs
	sync   uintptr
}

// wal follows the memory of the system's VFS for a WAL that is open. It is none of Go's: so there is no pointer in it.
type wal struct {
	sqlite3.Tsqlite3_io_methods
	system sqlite3.Tsqlite3_io_methods
	sync   uintptr
	held   uintptr // so many bytes, which belong at that place of the file
	n      int32
	at     int64
}

// The methods of a VFS and of a file of it that are replaced here.
type (
	openFile  = func(t *libc.TLS, vfs, name, file uintptr, flags int32, opened uintptr) int32
	closeFile = func(t *libc.TLS, file uintptr) int32
	readFile  = func(t *libc.TLS, file, bytes uintptr, n int32, at int64) int32
	writeFile = func(t *libc.TLS, file, bytes uintptr, n int32, at int64) int32
	truncate  = func(t *libc.TLS, file uintptr, size int64) int32
	syncFile  = func(t *libc.TLS, file uintptr, flags int32) int32
	sizeFile  = func(t *libc.TLS, file, size uintptr) int32
)

// walVFS is the VFS, which it makes known to SQLite under its name.
var walVFS = sync.OnceValue(func() *vfs { return register("sibyl", 0) })

func register(name string, sync uintptr) *vfs {
	t := libc.NewTLS()
	defer t.Close()
	system := *object[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(t, 0))
	own, err := libc.CString(name)
	memory := libc.Xmalloc(t, libc.Tsize_t(unsafe.Sizeof(vfs{})))
	if err != nil || memory == 0 {
		panic("no memory for a VFS of SQLite")
	}
	v := object[vfs](memory)
	*v = vfs{system, system, sync}
	v.FzName, v.FxOpen, v.FszOsFile = own, address(openWAL), walOffset(&system)+int32(unsafe.Sizeof(wal{}))
	if code := sqlite3.Xsqlite3_vfs_register(t, memory, 0); code != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("SQLite takes no VFS: code %d", code))
	}
	return v
}

// walOffset is where a wal lies in the memory of a file, which is that of the system's VFS before.
func walOffset(system *sqlite3.Tsqlite3_vfs) int32 { return (system.FszOsFile + 7) &^ 7 }

func object[T any](address uintptr) *T         { return *(**T)(unsafe.Pointer(&address)) }
func method[F any](address uintptr) F          { return *(*F)(unsafe.Pointer(&address)) }
func address[T any](pointer T) (found uintptr) { return *(*uintptr)(unsafe.Pointer(&pointer)) }

func openWAL(t *libc.TLS, at, name, file uintptr, flags int32, opened uintptr) int32 {
	v := object[vfs](at)
	code := method[openFile](v.system.FxOpen)(t, at, name, file, flags, opened)
	if code != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return code
	}
	f, w := object[sqlite3.Tsqlite3_file](file), object[wal](file+uintptr(walOffset(&v.system)))
	system := *object[sqlite3.Tsqlite3_io_methods](f.FpMethods)
	*w = wal{Tsqlite3_io_methods: system, system: system, sync: v.sync}
	if w.sync == 0 {
		w.sync = system.FxSync
	}
	w.FxClose, w.FxRead, w.FxWrite, w.FxTruncate = address(closeWAL), address(readWAL), address(writeWAL), address(truncateWAL)
	w.FxSync, w.FxFileSize = address(syncWAL), address(sizeWAL)
	f.FpMethods = address(w)
	return code
}

func walOf(file uintptr) *wal { return object[wal](object[sqlite3.Tsqlite3_file](file).FpMethods) }

func writeWAL(t *libc.TLS, file, bytes uintptr, n int32, at int64) int32 {
	w := walOf(file)
	if at != w.at+int64(w.n) || w.n+n > mostHeld {
		if code := w.write(t, file); code != sqlite3.SQLITE_OK {
			return code
		}
		w.at = at
	}
	if w.held == 0 {
		if w.held = libc.Xmalloc(t, mostHeld); w.held == 0 {
			return sqlite3.SQLITE_IOERR_NOMEM
		}
	}
	copy(unsafe.Slice(object[byte](w.held), mostHeld)[w.n:], unsafe.Slice(object[byte](bytes), n))
	w.n += n
	return sqlite3.SQLITE_OK
}

// write writes the bytes held. If that fails they are dropped, as SQLite knows.
func (w *wal) write(t *libc.TLS, file uintptr) int32 {
	if w.n == 0 {
		return sqlite3.SQLITE_OK
	}
	n, at := w.n, w.at
	w.n, w.at = 0, at+int64(n)
	return method[writeFile](w.system.FxWrite)(t, file, w.held, n, at)
}

func syncWAL(t *libc.TLS, file uintptr, flags int32) int32 {
	w := walOf(file)
	if code := w.write(t, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return method[syncFile](w.sync)(t, file, flags)
}

func readWAL(t *libc.TLS, file, bytes uintptr, n int32, at int64) int32 {
	w := walOf(file)
	if code := w.write(t, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return method[readFile](w.system.FxRead)(t, file, bytes, n, at)
}

func truncateWAL(t *libc.TLS, file uintptr, size int64) int32 {
	w := walOf(file)
	if code := w.write(t, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return method[truncate](w.system.FxTruncate)(t, file, size)
}

func sizeWAL(t *libc.TLS, file, size uintptr) int32 {
	w := walOf(file)
	if code := w.write(t, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return method[sizeFile](w.system.FxFileSize)(t, file, size)
}

// closeWAL drops what is held, since it was not synced.
func closeWAL(t *libc.TLS, file uintptr) int32 {
	w := walOf(file)
	libc.Xfree(t, w.held)
	return method[closeFile](w.system.FxClose)(t, file)
}
