package app

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestHolderIsKnownToBeDeadOnlyWhereItsNumberMeansSomething(t *testing.T) {
	if place() == unknown {
		t.Skip("this system does not tell where a process runs")
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	gone, here := strconv.Itoa(ended.Process.Pid), strconv.Itoa(os.Getpid())
	host, _, _ := strings.Cut(place(), "-")
	for name, want := range map[string]bool{
		place() + "/" + gone + "/x":       true,
		place() + "/" + here + "/x":       false,
		host + "-0badc0de/" + gone + "/x": false, // another container, or a clone, of the same host name
		unknown + "/" + gone + "/x":       false,
		place() + "/0/x":                  false,
		place() + "/" + gone:              false,
		"":                                false,
	} {
		if got := dead(name); got != want {
			t.Errorf("dead(%q) is %v; want %v", name, got, want)
		}
	}
	if dead(holder()) {
		t.Error("this process is dead")
	}
}
