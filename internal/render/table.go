package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	table "github.com/yuin/goldmark/extension/ast"
)

const (
	between     = " │ "
	betweenWide = 3
)

// layOutTable lays out a table in columns, or as records if columns don't fit the width without breaking words.
func (l layout) layOutTable(t *table.Table, width int) []string {
	rows := l.tableRows(t)
	natural, least := columnWidths(rows, len(t.Alignments))
	columns := fitColumns(natural, least, width-betweenWide*(len(t.Alignments)-1))
	if columns == nil {
		return l.layOutRecords(rows, width)
	}
	var lines []string
	for i, row := range rows {
		lines = append(lines, l.layOutRow(row, columns, t.Alignments)...)
		if i == 0 {
			rule := make([]string, len(columns))
			for c, w := range columns {
				rule[c] = strings.Repeat("─", w)
			}
			lines = append(lines, strings.Join(rule, "─┼─"))
		}
	}
	return lines
}

// tableRows returns the cells of a table by rows, the bold head first.
func (l layout) tableRows(t *table.Table) (rows [][][]span) {
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		row := make([][]span, len(t.Alignments))
		var k style
		if len(rows) == 0 {
			k = bold
		}
		i := 0
		for c := r.FirstChild(); c != nil && i < len(row); c = c.NextSibling() {
			row[i] = l.withLinks(mergeSpans(l.inlineSpans(c, k, "")))
			i++
		}
		rows = append(rows, row)
	}
	return rows
}

func cellWidth(cell []span) (n int) {
	for _, s := range cell {
		n += ansi.StringWidth(s.text)
	}
	return n
}

// columnWidths returns the widths of the columns with nothing wrapped, and the least ones with no word broken.
func columnWidths(rows [][][]span, n int) (natural, least []int) {
	natural, least = make([]int, n), make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			natural[i] = max(natural[i], cellWidth(cell))
			for _, word := range wordsOf(cell) {
				least[i] = max(least[i], cellWidth(word))
			}
		}
	}
	return natural, least
}

// fitColumns returns widths that fit room, with the widest columns narrowed; nil if a word would have to be broken.
func fitColumns(natural, least []int, room int) []int {
	sum, widest := 0, 0
	for _, w := range natural {
		sum, widest = sum+w, max(widest, w)
	}
	if sum <= room {
		return natural
	}
	for most := min(widest, room); most > 0; most-- {
		narrowed, sum := make([]int, len(natural)), 0
		for i, w := range natural {
			narrowed[i] = max(min(w, most), least[i])
			sum += narrowed[i]
		}
		if sum > room {
			continue
		}
		for i, w := range natural { // give the rest to columns that were narrowed
			if w > narrowed[i] && sum < room {
				narrowed[i]++
				sum++
			}
		}
		return narrowed
	}
	return nil
}

func (l layout) layOutRow(row [][]span, columns []int, alignments []table.Alignment) (lines []string) {
	cells := make([][][]span, len(row))
	height := 1
	for i, cell := range row {
		cells[i] = wrap(cell, columns[i])
		height = max(height, len(cells[i]))
	}
	for y := range height {
		var parts []string
		for i, cell := range cells {
			var line []span
			if y < len(cell) {
				line = cell[y]
			}
			space := max(columns[i]-cellWidth(line), 0)
			left := map[table.Alignment]int{table.AlignRight: space, table.AlignCenter: space / 2}[alignments[i]]
			parts = append(parts, strings.Repeat(" ", left)+l.paintLine(line)+strings.Repeat(" ", space-left))
		}
		lines = append(lines, strings.TrimRight(strings.Join(parts, between), " "))
	}
	return lines
}

// layOutRecords lays out each row as a record: a line or more for each cell that isn't empty, with its head.
func (l layout) layOutRecords(rows [][][]span, width int) (lines []string) {
	for i, row := range rows[1:] {
		if i > 0 {
			lines = append(lines, "")
		}
		for c, cell := range row {
			if len(cell) == 0 {
				continue
			}
			both := append(append([]span{}, rows[0][c]...), span{text: ": "})
			for _, line := range wrap(append(both, cell...), width) {
				lines = append(lines, l.paintLine(line))
			}
		}
	}
	return lines
}
