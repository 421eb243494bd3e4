package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are the packages of those that a release holds.
var programs = []string{"./cmd/sibyl", "./cmd/sibyl-bert"}

// linking is what the linker is told: no symbols, no id that depends on where packages were built, and the version, which follows.
const linking = "-s -w -buildid= -X main.version="

// goTool runs the go command for a target and gives what it prints. Settings of the person that change what is built don't count.
func goTool(ctx context.Context, target string, args ...string) ([]byte, error) {
	system, arch, _ := strings.Cut(target, "/")
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// build makes the programs for a target: static, without symbols and without the paths of this machine.
func (r *release) build(ctx context.Context, target string) (files []file, err error) {
	dir, err := os.MkdirTemp("", "sibyl-release-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", linking + r.version, "-o", dir + string(filepath.Separator)}
	if _, err := goTool(ctx, target, append(args, programs...)...); err != nil {
		return nil, err
	}
	built, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range built {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: entry.Name(), text: text, program: true})
	}
	return files, nil
}

// module is one that the programs are made of.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// modulesOf are the modules, by name, of which packages are in programs for a target; the standard library and our own are left out.
func modulesOf(ctx context.Context, target string, programs ...string) ([]module, error) {
	out, err := goTool(ctx, target, append([]string{"list", "-deps", "-json=Module"}, programs...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ Module *module }
		if err := lines.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := pkg.Module; m != nil && !m.Main {
			found[m.Path] = *m
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return strings.Compare(a.Path, b.Path) }), nil
}

// thirdParties are the licences of all that the programs for a target are made of, as these ask to be handed on, Go's own with them.
func thirdParties(ctx context.Context, target string) ([]byte, error) {
	modules, err := modulesOf(ctx, target, programs...)
	if err != nil {
		return nil, err
	}
	root, err := goTool(ctx, target, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	modules = append(modules, module{Path: "Go and its standard library", Version: version, Dir: dir},
		module{Path: "rules of gitleaks", Version: "v8.30.0", Dir: "internal/redact"})
	var text bytes.Buffer
	text.WriteString("The programs are made of these modules of others, too.\n")
	for _, m := range modules {
		if err := writeLicences(&text, m); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// writeLicences writes the files that lie at the top of a module and say under which terms it may be used.
func writeLicences(text *bytes.Buffer, m module) error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	name := regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying|notice|patents)`)
	found := false
	for _, entry := range entries {
		if !name.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		licence, err := os.ReadFile(filepath.Join(m.Dir, entry.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(text, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, entry.Name(), bytes.TrimSpace(bytes.ReplaceAll(licence, []byte("\r\n"), []byte("\n"))))
	}
	if !found {
		return fmt.Errorf("%s %s has no licence at its top: it must not be handed on without one", m.Path, m.Version)
	}
	return nil
}
