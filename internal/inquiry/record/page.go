package record

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
	"sync"
)

//go:embed page.html page.css
var pageFiles embed.FS

//go:embed page.css
var style string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "page.html"))
})

// PagePolicy is the content security policy of evidence pages: no scripts, and nothing that lies elsewhere.
func PagePolicy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// shown is a page up to what it carries, which has the hash data.
func shown(s *Session, passages []Chunk, data string) (string, error) {
	v := viewOf(s, passages)
	v.Data = data
	v.StyleSheet = template.CSS(style) // our own file
	var out strings.Builder
	err := pageTemplate().Execute(&out, v)
	return visible(out.String()), err
}
