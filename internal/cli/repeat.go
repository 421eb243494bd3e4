package cli

import (
	"io"
	"regexp"
	"runtime"
	"strings"

	"sibyl/internal/app"
	"sibyl/internal/config"
)

// namedCommand matches the beginning of a command that a message names, in the quotation marks of any language.
var namedCommand = regexp.MustCompile(`([‘„])sibyl([ ’“])`)

// repeatFlags gives the commands that a text names the flags with which this one was told where its settings and data
// are, so that they work as they are printed. A database with a password is left out.
func (c *command) repeatFlags(text string) string {
	if !strings.Contains(text, "sibyl") {
		return text
	}
	database := c.database
	if d, err := config.ParseDatabase(database); err != nil || d.HasPassword() {
		database = ""
	}
	var flags string
	for _, f := range [...]struct{ name, value, usual string }{{"config", c.configPath, ""}, {"data", c.dataDir, ""},
		{"database", database, ""}, {"user", c.user, string(app.Owner)}} {
		if f.value != f.usual {
			flags += " --" + f.name + " " + shellWord(f.value)
		}
	}
	if flags == "" {
		return text
	}
	return namedCommand.ReplaceAllString(text, "${1}sibyl"+strings.ReplaceAll(flags, "$", "$$")+"$2")
}

// ownWords is the annotation of a command whose standard output holds messages alone, and nothing of models or files.
const ownWords = "own words"

// shellWord quotes a word for the shell, where it needs that.
func shellWord(word string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:@%+=,", r) ||
			r == '\\' && runtime.GOOS == "windows" || r > 0x7f
	}
	switch {
	case word != "" && strings.TrimLeftFunc(word, isPlain) == "":
		return word
	case runtime.GOOS == "windows":
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// repeatingWriter writes messages, with repeatFlags applied to each write.
type repeatingWriter struct {
	io.Writer
	c *command
}

func (w *repeatingWriter) Write(p []byte) (int, error) {
	text := w.c.repeatFlags(string(p))
	if text == string(p) {
		return w.Writer.Write(p)
	}
	if _, err := io.WriteString(w.Writer, text); err != nil {
		return 0, err
	}
	return len(p), nil
}
