// Package release makes what a release consists of: for each system an archive with both programs, the licences, manual pages and completions,
// and a list of SHA-256 sums. What it writes depends on nothing but the source, the version, the time that it is given and the version of Go: made
// twice, also on two machines, the archives are equal to the byte.
package release

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// targets are the systems that a release is made for, as OS/ARCH.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// A release is what is to be made.
type release struct {
	version string // as ‘sibyl --version’ says it
	made    time.Time
	targets []string // some of targets
	out     string   // a folder that does not exist
	tell    io.Writer
}

// Make makes the release that the arguments name, [--out DIR] VERSION [OS/ARCH…], of the module in the working folder, and tells what it is at.
// epoch is the time that all files bear, in seconds since 1970. The folder is there whole, or not at all.
func Make(ctx context.Context, args []string, epoch string, tell io.Writer) error {
	r, err := parse(args, epoch, tell)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.out), 0o755); err != nil {
		return err
	}
	// Made beside its place and moved there when it is whole, so that no half of a release is taken for one.
	work, err := os.MkdirTemp(filepath.Dir(r.out), ".release-")
	if err != nil {
		return err
	}
	if err := r.write(ctx, work); err != nil {
		return errors.Join(err, os.RemoveAll(work))
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	return os.Rename(work, r.out)
}

func parse(args []string, epoch string, tell io.Writer) (*release, error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(tell)
	out := flags.String("out", "", "the folder to make (default: dist/VERSION)")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	version := flags.Arg(0)
	if !regexp.MustCompile(`^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(version) {
		return nil, fmt.Errorf("%q is no version: call it as ‘sh scripts/release.sh 1.2.3 [OS/ARCH…]’", version)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 315532800 { // 1980, where the times of zip begin
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH is %q: it has to be the time of the release, in seconds since 1970, after 1980", epoch)
	}
	r := &release{version: version, made: time.Unix(seconds, 0).UTC(), targets: flags.Args()[1:], out: *out, tell: tell}
	if r.out == "" {
		r.out = filepath.Join("dist", version)
	}
	if _, err := os.Lstat(r.out); err == nil {
		return nil, fmt.Errorf("%s is there already: remove it, or name another folder with --out", r.out)
	}
	for _, target := range r.targets {
		if !slices.Contains(targets, target) {
			return nil, fmt.Errorf("no release is made for %q; known are %s", target, strings.Join(targets, ", "))
		}
	}
	if len(r.targets) == 0 {
		r.targets = targets
	}
	return r, nil
}

// write makes all files of the release in a folder.
func (r *release) write(ctx context.Context, dir string) error {
	shared, err := r.shared()
	if err != nil {
		return err
	}
	for _, target := range r.targets {
		fmt.Fprintf(r.tell, "%s\n", target)
		if err := r.pack(ctx, dir, target, shared); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return writeSums(dir)
}

// shared is what the archives of all systems hold.
func (r *release) shared() (files []file, err error) {
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, text: text})
	}
	help, err := helpFiles(r.version, r.made)
	return append(files, help...), err
}

// pack makes the archive for one system.
func (r *release) pack(ctx context.Context, dir, target string, shared []file) error {
	programs, err := r.build(ctx, target)
	if err != nil {
		return err
	}
	notices, err := thirdParties(ctx, target)
	if err != nil {
		return err
	}
	system, arch, _ := strings.Cut(target, "/")
	name := strings.Join([]string{"sibyl", r.version, system, arch}, "_")
	files := slices.Concat(programs, shared, []file{{name: "THIRD-PARTIES.txt", text: notices}})
	if system == "windows" {
		return writeTo(filepath.Join(dir, name+".zip"), func(w io.Writer) error { return writeZip(w, name, r.made, files) })
	}
	return writeTo(filepath.Join(dir, name+".tar.gz"), func(w io.Writer) error { return writeTar(w, name, r.made, files) })
}
