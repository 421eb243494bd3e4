package render

import (
	"archive/zip"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// definitions are the packed definitions of languages of chroma, whose own package registers each at every start.
//
//go:generate go test -run TestDefinitionsAreThoseOfChroma -update .
//go:embed languages/definitions.zip
var definitions string

// definition is an entry of index.json in definitions; the rules lie beside it.
type definition struct {
	File   string
	Config chroma.Config
	Within string `json:",omitempty"` // the language of what this one leaves over; "": it leaves nothing
}

// languages are the known languages. Their rules are read when one first colours something.
var languages = sync.OnceValue(readLanguages)

func readLanguages() *chroma.LexerRegistry {
	packed, err := zip.NewReader(strings.NewReader(definitions), int64(len(definitions)))
	if err != nil {
		panic("definitions.zip: " + err.Error())
	}
	var index []definition
	readPacked(packed, "index.json", func(r io.Reader) error { return json.NewDecoder(r).Decode(&index) })
	all := chroma.NewLexerRegistry()
	for _, d := range index {
		var lexer chroma.Lexer = chroma.MustNewLexer(&d.Config, func() (rules chroma.Rules) {
			readPacked(packed, d.File, func(r io.Reader) error { return xml.NewDecoder(r).Decode(&rules) })
			return rules
		})
		if d.Within != "" {
			lexer = chroma.DelegatingLexer(all.Get(d.Within), lexer)
		}
		all.Register(lexer)
	}
	return all
}

func readPacked(packed *zip.Reader, name string, read func(io.Reader) error) {
	f, err := packed.Open(name)
	if err == nil {
		err = read(f)
	}
	if err != nil {
		panic(name + " in definitions.zip: " + err.Error())
	}
}
