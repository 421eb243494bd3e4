package code

import "testing"

func TestWhatTheSystemSaysOfItselfIsNotEntered(t *testing.T) {
	r := open(t, "/")
	at, err := r.locate("proc")
	if err != nil {
		t.Fatal(err)
	}
	defer at.close()
	root, err := r.root.OpenRoot("proc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	top, err := r.root.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	from := job{info: at.info, device: deviceOf(top)}
	if !from.crosses(root) {
		t.Error("/proc is entered from /")
	}
	from.device = 0
	if from.crosses(root) {
		t.Error("/proc is not entered where it is named")
	}
}
