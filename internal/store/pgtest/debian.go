package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// cache is the folder that keeps what was fetched. The user that PostgreSQL runs as must be able to enter it, which the home of root
// does not let others do.
func cache() (string, error) {
	folder := "/var/cache"
	if os.Geteuid() != 0 {
		var err error
		if folder, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	folder = filepath.Join(folder, "sibyl", "pgtest")
	return folder, os.MkdirAll(folder, 0o755)
}

// fetched returns Debian's programs, which it downloads if no process has done so before.
func fetched(ctx context.Context) (programs, error) {
	folder, err := cache()
	if err != nil {
		return programs{}, err
	}
	held, err := lock(ctx, filepath.Join(folder, lockFile), os.O_CREATE)
	if err != nil {
		return programs{}, fmt.Errorf("wait for another process that downloads PostgreSQL: %w", err)
	}
	defer func() { _ = held.Close() }() // nothing was written to it
	root := filepath.Join(folder, "root")
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		if err := download(ctx, folder, root); err != nil {
			return programs{}, fmt.Errorf("there is no PostgreSQL here, and its packages cannot be had: %w", err)
		}
	}
	for _, bin := range newest(filepath.Join(root, "usr/lib/postgresql")) {
		p := programs{bin: bin}
		for _, pattern := range []string{"usr/lib/*-linux-*", "lib/*-linux-*"} {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				return programs{}, err
			}
			p.libraries = strings.Trim(p.libraries+":"+strings.Join(found, ":"), ":")
		}
		if p.complete() {
			return p, nil
		}
	}
	return programs{}, fmt.Errorf("the packages in %s have no PostgreSQL (remove the folder)", root)
}

// Of the packages that an installation would bring, those that are wanted bring PostgreSQL and libraries, but for those of Perl, and of
// compiling queries, which servers of tests don't.
var (
	wanted   = regexp.MustCompile(`(?m)^Inst (postgresql-[0-9]+|postgresql-client-[0-9]+|lib\S+) `)
	unwanted = regexp.MustCompile(`perl|^lib(llvm|z3-)`)
)

// download makes root of the packages that an installation of PostgreSQL would bring. Nothing is installed, and what the system knows of
// packages is left alone.
func download(ctx context.Context, folder, root string) error {
	work, err := os.MkdirTemp(folder, "download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // it is in nobody's way
	for _, name := range []string{"lists/partial", "archives/partial", "root"} {
		if err := os.MkdirAll(filepath.Join(work, name), 0o755); err != nil {
			return err
		}
	}
	apt := func(args ...string) ([]byte, error) {
		own := []string{"-q", "-o", "Dir::State::Lists=" + filepath.Join(work, "lists"), "-o", "Dir::Cache=" + work, "-o", "Debug::NoLocking=1"}
		return output(ctx, work, "apt-get", append(own, args...)...)
	}
	if _, err := apt("update"); err != nil {
		return err
	}
	plan, err := apt("--simulate", "--no-install-recommends", "install", "postgresql")
	if err != nil {
		return err
	}
	var names []string
	for _, found := range wanted.FindAllSubmatch(plan, -1) {
		if name := string(found[1]); !unwanted.MatchString(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return errors.New("apt-get install postgresql would bring none")
	}
	if _, err := apt(append([]string{"download"}, names...)...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range packages {
		if _, err := output(ctx, work, "dpkg", "-x", file, filepath.Join(work, "root")); err != nil {
			return err
		}
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	return os.Rename(filepath.Join(work, "root"), root)
}

// output is what a command prints.
func output(ctx context.Context, folder, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "LC_ALL=C")
	var printed, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, args[len(args)-1], err, strings.TrimSpace(problems.String()))
	}
	return printed.Bytes(), nil
}
