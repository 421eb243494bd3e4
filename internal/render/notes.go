package render

import (
	"regexp"
	"strconv"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// Footnotes and check boxes. A page shows many texts, so that nothing in one has an id: the number of a footnote is a
// button, and its text the item of that number in the list at the end.

func writeNoteNumber(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	number := strconv.Itoa(n.(*extended.FootnoteLink).Index)
	_, err := w.WriteString(`<sup><button type="button" class="note" value="` + number + `">` + number + "</button></sup>")
	return ast.WalkSkipChildren, err
}

// stillNote is what writeNoteNumber writes. No text of a page has the letters of a tag.
var stillNote = regexp.MustCompile(`<sup><button type="button" class="note" value="\d+">(\d+)</button></sup>`)

func writeNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func writeNotes(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	return writeAround(w, entering, "<ol class=\"notes\">\n", "</ol>\n")
}

func writeNote(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	return writeAround(w, entering, "<li>\n", "</li>\n")
}

func writeAround(w util.BufWriter, entering bool, before, after string) (ast.WalkStatus, error) {
	if entering {
		after = before
	}
	_, err := w.WriteString(after)
	return ast.WalkContinue, err
}

func writeCheckBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	box := "☐"
	if n.(*extended.TaskCheckBox).IsChecked {
		box = "☑"
	}
	_, err := w.WriteString(`<span class="check">` + box + "</span> ")
	return ast.WalkContinue, err
}
