package document

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact/redacttest"

	"sibyl/internal/media/document/documenttest"
)

func TestSecretsAreTakenOutBeforeADocumentIsParted(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		if strings.ContainsAny(v.Text, "\r\x00") {
			continue
		}
		var lines []string
		for line := range strings.Lines(v.Text) {
			lines = append(lines, documenttest.Para(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").
				Replace(strings.TrimSuffix(line, "\n"))))
		}
		for name, content := range map[string][]byte{"a.md": []byte(v.Text + "\n"),
			"a.txt":  []byte("Some words before it, as people write.\n" + v.Text + "\n"),
			"a.docx": documenttest.DOCX(t, strings.Join(lines, ""), nil)} {
			d, err := readOne(t, name, content)
			assert.NoErrorf(t, err, "%s: %s", v.Name, name)
			for _, c := range Chunks(d) {
				for _, leak := range v.Leaks(c.Text) {
					t.Errorf("%s in %s: %q is in %q", v.Name, name, leak, c.Text)
				}
			}
		}
	}
}

func TestFileOfSecretsInAFolderIsRefusedAndOneThatIsNamedIsRead(t *testing.T) {
	folder := folderOf(t, map[string][]byte{"credentials.txt": []byte("words"), "report.txt": []byte("words"),
		"deep/passwords.txt": []byte("words")})
	docs, failed, err := reader(t).ReadAll(t.Context(), folder)
	assert.That(t, err == nil && len(docs) == 1 && len(failed) == 2 && failed[0].Reason == Closed &&
		failed[1].File == "deep/passwords.txt", "%d documents, %v, %v", len(docs), failed, err)
	docs, failed, err = reader(t).ReadAll(t.Context(), folder+"/credentials.txt")
	assert.That(t, err == nil && len(docs) == 1, "named: %d documents, %v, %v", len(docs), failed, err)
}
