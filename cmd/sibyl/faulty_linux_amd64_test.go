package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// faulty is a program that runs another one and watches its calls of the operating system: those for files below some
// folders, and those for the network. It notes them, and has one of them fail. The program itself is the real one, and
// knows nothing of it.
func faulty() {
	var p faultPlan
	if err := json.Unmarshal([]byte(os.Getenv(faultPlanAt)), &p); err != nil {
		panic(err)
	}
	code, err := p.run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUntraced)
	}
	os.Exit(code)
}

// stopped is a call as the system takes it: its number, where its file is named, and what comes of it.
type stopped struct {
	osCall
	thread  int
	entered bool // and has not returned
	at      syscall.PtraceRegs
	fails   syscall.Errno // what it returns instead; 0: what it does
	ends    bool          // a read that returns the end of the file instead
}

// The arguments of calls that name files.
const (
	byDescriptor = iota // the first is a descriptor
	byFolder            // the first is a folder, the second a name in it
	byFolders           // so are the third and fourth
	byMapping           // the fifth is a descriptor
	byName              // the first is a name
	byNames             // so is the second
)

// watched are the calls that are looked at, with how they name a file.
var watched = sync.OnceValue(func() map[uint64]struct {
	name string
	how  int
} {
	return map[uint64]struct {
		name string
		how  int
	}{
		2: {"open", byName}, 4: {"stat", byName}, 6: {"lstat", byName}, 21: {"access", byName}, 82: {"rename", byNames},
		83: {"mkdir", byName}, 84: {"rmdir", byName}, 86: {"link", byNames},
		87: {"unlink", byName}, 89: {"readlink", byName}, 90: {"chmod", byName},
		0: {"read", byDescriptor}, 1: {"write", byDescriptor}, 3: {"close", byDescriptor}, 5: {"fstat", byDescriptor},
		9: {"mmap", byMapping}, 17: {"pread64", byDescriptor}, 18: {"pwrite64", byDescriptor},
		20: {"writev", byDescriptor}, 42: {"connect", byDescriptor}, 72: {"fcntl", byDescriptor},
		73: {"flock", byDescriptor}, 74: {"fsync", byDescriptor}, 75: {"fdatasync", byDescriptor},
		77: {"ftruncate", byDescriptor}, 91: {"fchmod", byDescriptor}, 217: {"getdents64", byDescriptor},
		257: {"openat", byFolder}, 258: {"mkdirat", byFolder}, 262: {"newfstatat", byFolder},
		263: {"unlinkat", byFolder}, 264: {"renameat", byFolders}, 265: {"linkat", byFolders},
		267: {"readlinkat", byFolder}, 268: {"fchmodat", byFolder}, 316: {"renameat2", byFolders},
	}
})

// locks says whether a call of fcntl takes a lock: no other fails, and none that frees one.
func (w *tracing) locks(regs syscall.PtraceRegs) bool {
	const openDescription, openDescriptionWait = 37, 38
	if command := int(regs.Rsi); command != syscall.F_SETLK && command != syscall.F_SETLKW &&
		command != openDescription && command != openDescriptionWait {
		return false
	}
	var kind [2]byte
	_, err := w.memory.ReadAt(kind[:], int64(regs.Rdx))
	return err == nil && binary.NativeEndian.Uint16(kind[:]) != syscall.F_UNLCK
}

// tracing is a process under watch.
type tracing struct {
	plan   faultPlan
	pid    int
	memory *os.File // of the process
	under  map[int]*stopped
	seen   map[string]int // calls by class
	full   string         // a file that takes nothing more
	log    *json.Encoder
}

// run runs a command to its end, and gives its exit code.
func (p faultPlan) run(args []string) (code int, err error) {
	runtime.LockOSThread() // the thread that starts it is the one that may watch it
	defer runtime.UnlockOSThread()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("watching is not allowed here: %w", err)
	}
	log, err := os.Create(p.Log)
	if err != nil {
		return 0, err
	}
	w := &tracing{plan: p, pid: cmd.Process.Pid, under: map[int]*stopped{}, seen: map[string]int{},
		log: json.NewEncoder(log)}
	if w.memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", w.pid)); err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(w.pid, &status, 0, nil); err != nil {
		return 0, err
	}
	const sysGood, clone, exitKill = 1, 8, 1 << 20
	if err := errors.Join(syscall.PtraceSetOptions(w.pid, sysGood|clone|exitKill),
		syscall.PtraceSyscall(w.pid, 0)); err != nil {
		return 0, err
	}
	for {
		code, ended, err := w.next()
		if err != nil || ended {
			return code, errors.Join(err, log.Close())
		}
	}
}

// next waits for a thread to stop, and has it go on.
func (w *tracing) next() (code int, ended bool, err error) {
	var status syscall.WaitStatus
	thread, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
	switch {
	case errors.Is(err, syscall.EINTR):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case status.Exited() && thread == w.pid:
		return status.ExitStatus(), true, nil
	case status.Signaled() && thread == w.pid:
		return 128 + int(status.Signal()), true, nil
	case !status.Stopped():
		return 0, false, nil // a thread has ended
	}
	signal, known := status.StopSignal(), w.under[thread] != nil
	if !known {
		w.under[thread] = &stopped{thread: thread}
	}
	switch {
	case signal == syscall.SIGTRAP|0x80:
		signal, err = 0, w.stop(w.under[thread])
	case signal == syscall.SIGTRAP && status.TrapCause() > 0, signal == syscall.SIGSTOP && !known:
		signal = 0 // a thread was begun
	}
	if err == nil {
		err = syscall.PtraceSyscall(thread, int(signal))
	}
	if errors.Is(err, syscall.ESRCH) {
		err = nil // the process is ending
	}
	return 0, false, err
}

// stop looks at a call that begins or returns.
func (w *tracing) stop(c *stopped) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(c.thread, &regs); err != nil {
		return err
	}
	if c.entered {
		c.entered = false
		return w.returns(c, regs)
	}
	*c = stopped{thread: c.thread, entered: true, at: regs}
	what, ok := watched()[regs.Orig_rax]
	if !ok || what.name == "fcntl" && !w.locks(regs) {
		return nil
	}
	c.Call = what.name
	if !w.named(c, what.how) {
		c.Call = ""
		return nil
	}
	return w.begins(c)
}

// named says whether a call is for a file below the folders of the plan, or for the network, and which.
func (w *tracing) named(c *stopped, how int) bool {
	r := c.at
	switch how {
	case byDescriptor:
		c.Path = w.link(r.Rdi)
	case byMapping:
		c.Path = w.link(r.R8)
	case byName, byNames:
		const here = -100
		from := int64(here)
		c.Path = w.inFolder(uint64(from), r.Rdi)
		if how == byNames {
			c.To = w.inFolder(uint64(from), r.Rsi)
		}
	default:
		c.Path = w.inFolder(r.Rdi, r.Rsi)
		if how == byFolders {
			c.To = w.inFolder(r.Rdx, r.R10)
		}
	}
	if strings.HasPrefix(c.Path, "socket:") {
		c.Path = "network"
		return true
	}
	c.Path = strings.TrimSuffix(c.Path, " (deleted)")
	for _, folder := range w.plan.Under {
		if c.Path == folder || strings.HasPrefix(c.Path, folder+"/") {
			return true
		}
	}
	return false
}

// link is what a descriptor is of.
func (w *tracing) link(descriptor uint64) string {
	if int32(descriptor) < 0 {
		return ""
	}
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", w.pid, int32(descriptor))) // one that is none is not watched
	return name
}

func (w *tracing) inFolder(folder, name uint64) string {
	file := w.text(name)
	if strings.HasPrefix(file, "/") {
		return file
	}
	const here = -100
	if int32(folder) == here {
		at, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", w.pid)) // that of a process that is there
		return filepath.Join(at, file)
	}
	return filepath.Join(w.link(folder), file)
}

// text reads a text that ends with a zero.
func (w *tracing) text(address uint64) string {
	var all []byte
	var part [256]byte
	for len(all) < syscall.PathMax {
		room := 256 - int(address%256) // which never crosses a page
		n, err := w.memory.ReadAt(part[:room], int64(address))
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(all, part[:end]...))
		}
		if err != nil {
			return ""
		}
		all, address = append(all, part[:n]...), address+uint64(n)
	}
	return ""
}

// readsNetwork says whether a call waits for what comes: it is counted when there is something.
func (c *stopped) readsNetwork() bool { return c.Path == "network" && c.Call == "read" }

// begins counts a call, and has it fail if it is the one.
func (w *tracing) begins(c *stopped) error {
	if c.Call == "write" || c.Call == "pwrite64" {
		c.Size = int64(c.at.Rdx)
	}
	if c.Flags = int64(c.at.Rdx); c.Call == "open" {
		c.Flags = int64(c.at.Rsi)
	}
	if w.full != "" && c.Path == w.full && (c.Call == "write" || c.Call == "pwrite64") {
		return w.skip(c, syscall.ENOSPC)
	}
	if c.readsNetwork() {
		return nil
	}
	if !w.counted(c) {
		return nil
	}
	switch {
	case w.plan.Way == wayShort && c.Size > 1:
		r := c.at
		r.Rdx /= 2
		w.full = c.Path
		return syscall.PtraceSetRegs(c.thread, &r)
	case w.plan.Way == wayAfter || c.Call == "close":
		c.fails = w.plan.errno(c.Call)
		return nil
	}
	return w.skip(c, w.plan.errno(c.Call))
}

// counted says whether a call is the one that is to fail.
func (w *tracing) counted(c *stopped) bool {
	class := w.plan.class(c.osCall)
	c.Class, c.Nth = class, w.seen[class]
	w.seen[class]++
	return w.plan.Way != "" && class == w.plan.Class && c.Nth == w.plan.Nth
}

// skip has a call not be made, and return an error.
func (w *tracing) skip(c *stopped, errno syscall.Errno) error {
	r := c.at
	r.Orig_rax = ^uint64(0) // there is no such call
	c.fails = errno
	return syscall.PtraceSetRegs(c.thread, &r)
}

// returns notes a call that has been made, and has it say that it failed if it is to.
func (w *tracing) returns(c *stopped, regs syscall.PtraceRegs) error {
	if c.Call == "" {
		return nil
	}
	if c.readsNetwork() {
		if syscall.Errno(-int64(regs.Rax)) == syscall.EAGAIN {
			return nil
		}
		if w.counted(c) {
			c.fails, c.ends = w.plan.errno(c.Call), w.plan.Way == wayShort
		}
	}
	c.Result = int64(regs.Rax)
	if c.ends {
		c.Result = 0
	} else if c.fails != 0 {
		c.Result = -int64(c.fails)
	}
	c.Failed = c.ends || c.fails != 0
	if w.plan.Data && c.Result > 0 && (c.Call == "write" || c.Call == "pwrite64") && c.Path != "network" {
		c.Data = make([]byte, c.Result)
		if _, err := w.memory.ReadAt(c.Data, int64(c.at.Rsi)); err != nil {
			return err
		}
		c.Offset = w.offset(c)
	}
	if c.Call == "ftruncate" {
		c.Offset = int64(c.at.Rsi)
	}
	if err := w.log.Encode(c.osCall); err != nil {
		return err
	}
	if !c.Failed {
		return nil
	}
	regs.Rax = uint64(c.Result)
	return syscall.PtraceSetRegs(c.thread, &regs)
}

// offset is where a write began.
func (w *tracing) offset(c *stopped) int64 {
	if c.Call == "pwrite64" {
		return int64(c.at.R10)
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", w.pid, int32(c.at.Rdi)))
	if found := position().FindSubmatch(info); err == nil && found != nil {
		if n, err := strconv.ParseInt(string(found[1]), 10, 64); err == nil {
			return n - c.Result
		}
	}
	panic("where it was written is not known")
}

var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`pos:\s*(\d+)`) })

// errno is what a call fails with.
func (p faultPlan) errno(name string) syscall.Errno {
	switch {
	case name == "connect":
		return syscall.ECONNREFUSED
	case strings.HasSuffix(p.Class, " network"):
		return syscall.ECONNRESET
	case p.Way == wayShort:
		return syscall.ENOSPC
	}
	return syscall.EIO
}
