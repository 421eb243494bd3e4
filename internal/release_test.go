package internal

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// mostProgram is how many bytes the program may have, without symbols.
const mostProgram = 80 << 20

// noon is the time of the releases that are made here.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// tiny writes a module with programs of our names, beside the scripts of a release, and gives its folder.
func tiny(t *testing.T) (dir string) {
	t.Helper()
	needs.Program(t, "tar", "gzip", "zip")
	dir = filepath.Join(t.TempDir(), "with a space")
	put(t, dir, map[string]string{
		"go.mod": "module tiny\n",
		"cmd/sibyl/main.go": "package main\n\nimport \"os\"\n\nvar version string\n\nfunc main() { " +
			"os.Stdout.WriteString(version) }\n",
		"cmd/sibyl-bert/main.go": "package main\n\nfunc main() {}\n",
		"cmd/manual/main.go": "package main\n\nimport \"os\"\n\n" +
			"func main() { os.WriteFile(os.Args[2]+\"/sibyl.1\", []byte(\"page of \"+os.Args[1]), 0o600) }\n",
		"README.md": "read", "LICENSE": "ours", "CHANGELOG.md": "changes",
		"internal/redact/LICENSE": "of rules", "web/LICENSE.svelte": "of Svelte", "web/LICENSE.diff": "of jsdiff",
		"web/LICENSE.temml": "of Temml",
		"web/package.json":  `{"diff": "9.0.0", "svelte": "5.0.0", "temml": "0.13.5"}`,
	})
	for _, name := range []string{"scripts/release.sh", "scripts/licences.sh"} {
		text := assert.Must(os.ReadFile(filepath.Join("..", name)))(t)
		put(t, dir, map[string]string{name: string(text)})
	}
	return dir
}

// put writes files below a folder.
func put(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		name = filepath.Join(dir, name)
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
}

// script runs a script of a module's, and gives what it says.
func script(t *testing.T, dir string, environment []string, args ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", noon.Unix()), "GIT_CEILING_DIRECTORIES="+
		filepath.Dir(dir))
	cmd.Env = append(cmd.Env, environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// unpacked is what an archive gives for a file.
type unpacked struct {
	Text string
	Mode fs.FileMode
	Made time.Time
}

func untar(t *testing.T, packed []byte) map[string]unpacked {
	t.Helper()
	zipped := assert.Must(gzip.NewReader(bytes.NewReader(packed)))(t)
	files := map[string]unpacked{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		text := assert.Must(io.ReadAll(archive))(t)
		assert.That(t, header.Uid == 0 && header.Gid == 0 && header.Uname == "",
			"%s belongs to %d %d %q", header.Name, header.Uid, header.Gid, header.Uname)
		files[header.Name] = unpacked{string(text), header.FileInfo().Mode(), header.ModTime.UTC()}
	}
}

func unzip(t *testing.T, packed []byte) map[string]unpacked {
	t.Helper()
	archive := assert.Must(zip.NewReader(bytes.NewReader(packed), int64(len(packed))))(t)
	files := map[string]unpacked{}
	for _, f := range archive.File {
		text := assert.Must(fs.ReadFile(archive, f.Name))(t)
		files[f.Name] = unpacked{string(text), f.Mode(), f.Modified.UTC()}
	}
	return files
}

// contents are the files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	assert.NoError(t, err)
	for _, entry := range entries {
		files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name()))
		assert.NoError(t, err)
	}
	return files
}

func TestReleasesOfOneCommitAreEqualToTheByteAndHoldAllThatIsPromised(t *testing.T) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	var made [2]map[string][]byte
	for i, person := range [][]string{{"GOFLAGS=-buildmode=pie", "TZ=Asia/Tokyo", "GZIP=-1"},
		{"GOOS=plan9", "LC_ALL=de_DE.UTF-8"}} {
		dir := tiny(t)
		said, err := script(t, dir, person, "scripts/release.sh", "--out", "out/x", "1.2.3", here, "windows/amd64")
		assert.Require(t, err == nil, "%v: %s", err, said)
		made[i] = contents(t, filepath.Join(dir, "out", "x"))
		for name, text := range made[i] {
			assert.That(t, !bytes.Contains(text, []byte(dir)), "%s holds the folder that it was made in", name)
		}
		sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
		sums.Dir = filepath.Join(dir, "out", "x")
		if said, err := sums.CombinedOutput(); err != nil || strings.Count(string(said), ": OK\n") != 2 {
			t.Errorf("the sums: %v: %s", err, said)
		}
	}
	assert.That(t, cmp.Equal(made[0], made[1]), "made twice, the files differ")
	folder := "sibyl_1.2.3_" + strings.Replace(here, "/", "_", 1)
	holds := untar(t, made[0][folder+".tar.gz"])
	checkArchive(t, holds, folder, "")
	checkArchive(t, unzip(t, made[0]["sibyl_1.2.3_windows_amd64.zip"]), "sibyl_1.2.3_windows_amd64", ".exe")
	program := filepath.Join(t.TempDir(), "sibyl")
	assert.NoError(t, os.WriteFile(program, []byte(holds[folder+"/sibyl"].Text), 0o755))
	said, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	assert.That(t, err == nil && string(said) == "1.2.3", "it says its version is %q, error: %v", said, err)
}

// checkArchive looks for what docs/releases.md says of an archive.
func checkArchive(t *testing.T, holds map[string]unpacked, folder, ending string) {
	t.Helper()
	programs := []string{"sibyl" + ending, "sibyl-bert" + ending}
	want := append(slices.Clone(programs), "README.md", "LICENSE", "CHANGELOG.md", "THIRD-PARTIES.txt",
		"man/man1/sibyl.1",
		"completions/sibyl.bash", "completions/_sibyl", "completions/sibyl.fish", "completions/sibyl.ps1")
	for _, name := range want {
		got, ok := holds[folder+"/"+name]
		mode := fs.FileMode(0o644) // whatever it had
		if slices.Contains(programs, name) {
			mode = 0o755
		}
		assert.That(t, ok && got.Text != "" && got.Mode == mode && got.Made.Equal(noon),
			"%s/%s: there is %t, %d bytes, %v, of %v", folder, name, ok, len(got.Text), got.Mode, got.Made)
	}
	assert.That(t, len(holds) == len(want), "%s holds %q", folder, slices.Sorted(maps.Keys(holds)))
	page := holds[folder+"/man/man1/sibyl.1"].Text
	assert.That(t, page == "page of 1.2.3", "the manual says %q", page)
	assert.Contains(t, "the licences of others", holds[folder+"/THIRD-PARTIES.txt"].Text,
		"Go and its standard library go1", "rules of gitleaks", "Svelte 5.0.0, jsdiff 9.0.0 and Temml 0.13.5",
		"of Svelte", "of jsdiff", "of Temml")
}

// TestAReleaseIsMadeForAllSystemsUnlessSomeAreNamed has a go command that builds nothing, but notes for which system it
// was asked.
func TestAReleaseIsMadeForAllSystemsUnlessSomeAreNamed(t *testing.T) {
	dir := tiny(t)
	put(t, dir, map[string]string{"bin/go": `#!/bin/sh
while [ $# -gt 0 ]; do
	if [ "$1" = -o ]; then
		mkdir -p "$2"
		printf '#!/bin/sh\necho "%s"\n' "$GOOS/$GOARCH" >"$2sibyl"
		chmod +x "$2sibyl"
	fi
	shift
done
`})
	assert.NoError(t, os.Chmod(filepath.Join(dir, "bin", "go"), 0o755))
	path := "PATH=" + filepath.Join(dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	put(t, dir, map[string]string{"scripts/licences.sh": "echo licences\n"})
	said, err := script(t, dir, []string{path}, "scripts/release.sh", "v1.2.3-rc.1")
	assert.Require(t, err == nil, "%v: %s", err, said)
	all := contents(t, filepath.Join(dir, "dist", "v1.2.3-rc.1"))
	want := []string{"SHA256SUMS", "sibyl_v1.2.3-rc.1_darwin_amd64.tar.gz", "sibyl_v1.2.3-rc.1_darwin_arm64.tar.gz",
		"sibyl_v1.2.3-rc.1_linux_amd64.tar.gz",
		"sibyl_v1.2.3-rc.1_linux_arm64.tar.gz", "sibyl_v1.2.3-rc.1_windows_amd64.zip",
		"sibyl_v1.2.3-rc.1_windows_arm64.zip"}
	assert.Same(t, want, slices.Sorted(maps.Keys(all)))
	arm := untar(t, all["sibyl_v1.2.3-rc.1_linux_arm64.tar.gz"])["sibyl_v1.2.3-rc.1_linux_arm64/sibyl"]
	assert.That(t, strings.Contains(arm.Text, "linux/arm64"), "the archive of linux/arm64 holds %q", arm.Text)
	said, err = script(t, dir, []string{path}, "scripts/release.sh", "1.2.3", "linux/arm64")
	assert.Require(t, err == nil, "%v: %s", err, said)
	one := contents(t, filepath.Join(dir, "dist", "1.2.3"))
	assert.That(t, len(one) == 2, "for one system, there are %q", slices.Sorted(maps.Keys(one)))
}

func TestArgumentsThatMakeNoReleaseAreRefusedWithAReason(t *testing.T) {
	dir := tiny(t)
	put(t, dir, map[string]string{"taken/file": ""})
	for _, test := range []struct {
		args        []string
		epoch, want string
	}{
		{nil, "1700000000", "“” is no version"},
		{[]string{"latest"}, "1700000000", "“latest” is no version"},
		{[]string{"1.2.3+$(id)"}, "1700000000", "is no version"},
		{[]string{"1.2.3\n1.2.4"}, "1700000000", "is no version"},
		{[]string{"1.2.3/../.."}, "1700000000", "is no version"},
		{[]string{"1.2.3", "plan9/amd64"}, "1700000000",
			"no release is made for “plan9/amd64”; known are linux/amd64 "},
		{[]string{"1.2.3"}, "", "SOURCE_DATE_EPOCH is “”"},
		{[]string{"1.2.3"}, "12", "SOURCE_DATE_EPOCH is “12”"},
		{[]string{"--out", "taken", "1.2.3"}, "1700000000", "is there already"},
	} {
		said, err := script(t, dir, []string{"SOURCE_DATE_EPOCH=" + test.epoch}, append([]string{"scripts/release.sh"},
			test.args...)...)
		assert.That(t, err != nil && strings.Contains(said, test.want),
			"release %q at %q: %v: %s, not %q", test.args, test.epoch, err, said, test.want)
	}
	_, err := os.Stat(filepath.Join(dir, "dist"))
	assert.That(t, err != nil, "something was made")
}

func TestNothingIsLeftOfAReleaseThatFails(t *testing.T) {
	for name, without := range map[string]string{"a file": "README.md", "a program": "cmd/sibyl-bert",
		"a licence": "internal/redact/LICENSE"} {
		dir := tiny(t)
		assert.NoError(t, os.RemoveAll(filepath.Join(dir, without)))
		said, err := script(t, dir, nil, "scripts/release.sh", "1.2.3", runtime.GOOS+"/"+runtime.GOARCH)
		assert.That(t, err != nil, "without %s a release was made: %s", name, said)
		left, err := os.ReadDir(filepath.Join(dir, "dist"))
		assert.That(t, err == nil && len(left) == 0, "without %s, left are %v, error: %v", name, left, err)
	}
}

func TestAModuleWithoutALicenceIsNotHandedOn(t *testing.T) {
	dir := tiny(t)
	put(t, dir, map[string]string{
		"go.mod":            "module tiny\n\nrequire example.org/free v1.0.0\n\nreplace example.org/free => ./free\n",
		"cmd/sibyl/main.go": "package main\n\nimport _ \"example.org/free\"\n\nfunc main() {}\n",
		"free/go.mod":       "module example.org/free\n", "free/free.go": "package free\n",
		"free/License/file": "a folder is no licence",
	})
	if said, err := script(t, dir, nil, "scripts/licences.sh", "./cmd/sibyl"); err == nil ||
		!strings.Contains(said, "example.org/free v1.0.0 has no licence") {
		t.Errorf("a module without a licence was taken: %v: %s", err, said)
	}
	put(t, dir, map[string]string{"free/UNLICENCE.md": "Do what you like.\r\n"})
	said, err := script(t, dir, nil, "scripts/licences.sh", "./cmd/sibyl")
	assert.That(t, err == nil && strings.Contains(said, "\nexample.org/free v1.0.0: UNLICENCE.md\n\nDo what you like.\n"),
		"error: %v: %s", err, said)
}

func TestAllThatProgramsAreMadeOfHasALicence(t *testing.T) {
	needs.All(t, "the licences of all modules")
	text := assert.Must(os.ReadFile("../scripts/release.sh"))(t)
	known := regexp.MustCompile(`known="(.*)"`).FindSubmatch(text)
	assert.Require(t, known != nil, "the script of releases names no systems")
	for _, target := range strings.Fields(string(known[1])) {
		system, arch, _ := strings.Cut(target, "/")
		said, err := script(t, "..", []string{"GOOS=" + system, "GOARCH=" + arch, "CGO_ENABLED=0"},
			"scripts/licences.sh", "./cmd/sibyl", "./cmd/sibyl-bert")
		assert.That(t, err == nil && strings.Contains(said, "github.com/spf13/cobra v1") &&
			strings.Contains(said, "Svelte Contributors"), "%s: %v: %.300s", target, err, said)
	}
}

func TestTheContainerIsBuiltAsAReleaseIs(t *testing.T) {
	container := assert.Must(os.ReadFile("../deploy/Containerfile"))(t)
	release := assert.Must(os.ReadFile("../scripts/release.sh"))(t)
	mod := assert.Must(os.ReadFile("../go.mod"))(t)
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod)
	assert.Require(t, version != nil, "go.mod names no version of Go")
	assert.That(t, bytes.Contains(container, []byte("golang:"+string(version[1])+" ")),
		"the container is not built with Go %s, which go.mod names", version[1])
	for _, part := range []string{"CGO_ENABLED=0", "-trimpath -buildvcs=false",
		`-ldflags "-s -w -buildid= -X main.version=$`, "./cmd/sibyl ./cmd/sibyl-bert"} {
		for name, text := range map[string][]byte{"the script of releases": release,
			"the container file": bytes.ReplaceAll(container, []byte("${"), []byte("$"))} {
			assert.That(t, bytes.Contains(text, []byte(part)), "%s lacks %q", name, part)
		}
	}
}

func TestTheProgramStaysSmall(t *testing.T) {
	needs.All(t, "the program linked")
	program := filepath.Join(t.TempDir(), "sibyl")
	// As the tests build packages, not as a release does, so that little more than linking is left.
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/sibyl")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	assert.Require(t, err == nil, "%v: %s", err, out)
	info := assert.Must(os.Stat(program))(t)
	t.Logf("%d bytes", info.Size())
	assert.That(t, info.Size() <= mostProgram,
		"the program without symbols has %d bytes; at most %d", info.Size(), mostProgram)
}
