package oracle_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/trees"
)

// The tree holds the rules that a person might want to change. What computes belongs into leaves.
func TestTreeOfTheOracleHasAtMost150NodesOnThreeScreens(t *testing.T) {
	tree := assert.Must(trees.Set{}.Get(oracle.Name))(t)
	nodes := 0
	for d := xml.NewDecoder(bytes.NewReader(tree.Text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local != "root" && e.Name.Local != "BehaviorTree" {
			nodes++
		}
	}
	assert.That(t, nodes <= 150, "it has %d nodes", nodes)
	lines := bytes.Count(tree.Text, []byte("\n"))
	assert.That(t, lines <= 200, "it has %d lines", lines)
}
