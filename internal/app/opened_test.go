package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func TestToolsAreOpenedOnceForAllRunsAndClosedWhenNobodyUsesThem(t *testing.T) {
	var o opened
	opens, closes := 0, 0
	open := func(oracle.Env) (*tool.Set, func(), error) {
		opens++
		set, err := tool.NewSet()
		return set, func() { closes++ }, err
	}
	take := func(dir string) func() {
		t.Helper()
		_, give, err := o.take(oracle.Env{CodeRoot: dir}, open)
		if err != nil {
			t.Fatal(err)
		}
		return give
	}
	dir := filepath.Join(t.TempDir(), "code")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first, second := take(dir), take(dir)
	first()
	first() // a run that ends gives back once
	if opens != 1 || closes != 0 {
		t.Errorf("two runs at once: opened %d times, closed %d times", opens, closes)
	}
	if err := errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	third := take(dir)
	if opens != 2 || closes != 0 {
		t.Errorf("a folder that was replaced: opened %d times, closed %d times", opens, closes)
	}
	second()
	if closes != 1 {
		t.Errorf("what stood on the folder before is closed %d times when its last run ends", closes)
	}
	third()
	for i := range mostIdle + 3 {
		take(fmt.Sprint("folder ", i))()
	}
	if idle := len(o.tools); idle != mostIdle || closes != 1+4 {
		t.Errorf("%d stay open, %d were closed", idle, closes)
	}
	if o.close(); closes != opens {
		t.Errorf("opened %d times, closed %d times", opens, closes)
	}
}
