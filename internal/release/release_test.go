package release

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArgumentsThatMakeNoReleaseAreRefusedWithAReason(t *testing.T) {
	taken := t.TempDir()
	for _, test := range []struct{ args, epoch, want string }{
		{"", "1700000000", `"" is no version`},
		{"latest", "1700000000", `"latest" is no version`},
		{"1.2.3+$(id)", "1700000000", "is no version"},
		{"1.2.3 plan9/amd64", "1700000000", `no release is made for "plan9/amd64"`},
		{"1.2.3", "", `SOURCE_DATE_EPOCH is ""`},
		{"1.2.3", "12", `SOURCE_DATE_EPOCH is "12"`},
		{"--out " + taken + " 1.2.3", "1700000000", "is there already"},
	} {
		err := Make(t.Context(), strings.Fields(test.args), test.epoch, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("release %s at %q: %v, not %q", test.args, test.epoch, err, test.want)
		}
	}
}

func TestAReleaseIsMadeForAllSystemsUnlessSomeAreNamed(t *testing.T) {
	r, err := parse([]string{"v1.2.3-rc.1"}, "1700000000", io.Discard)
	if err != nil || len(r.targets) != len(targets) || r.out != filepath.Join("dist", "v1.2.3-rc.1") {
		t.Errorf("%+v, error: %v", r, err)
	}
	if r, err = parse([]string{"1.2.3", "linux/arm64"}, "1700000000", io.Discard); err != nil || len(r.targets) != 1 {
		t.Errorf("%+v, error: %v", r, err)
	}
}

func TestNothingIsLeftOfAReleaseThatFails(t *testing.T) {
	t.Chdir(t.TempDir()) // where there is nothing to make one of
	if err := Make(t.Context(), []string{"1.2.3", "linux/amd64"}, "1700000000", io.Discard); err == nil {
		t.Fatal("a release was made of nothing")
	}
	if left, err := os.ReadDir("dist"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, error: %v", left, err)
	}
}
