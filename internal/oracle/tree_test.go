package oracle_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"sibyl/internal/oracle"
	"sibyl/trees"
)

// The tree holds the rules that a person might want to change. What computes belongs into leaves.
func TestTreeOfTheOracleHasAtMost150NodesOnThreeScreens(t *testing.T) {
	tree, err := trees.Set{}.Get(oracle.Name)
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for d := xml.NewDecoder(bytes.NewReader(tree.Text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local != "root" && e.Name.Local != "BehaviorTree" {
			nodes++
		}
	}
	if nodes > 150 {
		t.Errorf("it has %d nodes", nodes)
	}
	if lines := bytes.Count(tree.Text, []byte("\n")); lines > 200 {
		t.Errorf("it has %d lines", lines)
	}
}
