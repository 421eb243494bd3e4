package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed irregular.txt
var irregularText string

// irregular gives for each form of an irregular verb all of its forms, the verb first.
var irregular = sync.OnceValue(func() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(irregularText) {
		forms := strings.Fields(line)
		for _, form := range forms {
			if forms[0] != "#" && table[form] == nil {
				table[form] = forms
			}
		}
	}
	return table
})

// Forms gives the other forms of an English verb that no ending makes, such as send of sent; nil for any other word.
func Forms(word string) []string {
	return slices.DeleteFunc(slices.Clone(irregular()[word]), func(form string) bool { return form == word })
}
