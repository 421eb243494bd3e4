package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/media/document/documenttest"
)

func document(query, kind string, body any) question {
	return question{method: "POST", path: "/api/documents" + query, body: body,
		header: map[string]string{"Content-Type": kind}}
}

func TestDocumentsThatAreHandedOverAreTheWitnessAndAreCheckedAgainstTheirFiles(t *testing.T) {
	h, reports := withInquiry(t)
	h.open()
	pdf := string(documenttest.PDF(true, []string{"Report"}, nil,
		[]string{"The bridge was closed because of corrosion on 3 May 2021."}))
	// more than other bodies may have
	text := strings.ReplaceAll(evidence, "Oder", "Spree") + strings.Repeat("Nothing else is known of it.\n\n", 4000)
	material := ""
	for name, content := range map[string]string{"report.pdf": pdf, "spree.txt": text} {
		assert.NoError(t, os.WriteFile(filepath.Join(reports, name), []byte(content), 0o600))
		var read api.DocumentText
		h.get(document("?name="+name, "application/octet-stream", content), &read)
		material += read.Material
	}
	q := inquires("", "")
	q.body.(map[string]any)["documents"] = material
	var begun api.InquiryBegun
	h.get(q, &begun)
	h.over(begun.Run)
	at := inquiries + "/" + begun.ID
	var s record.Session
	h.get(question{path: at}, &s)
	hashes := map[string]string{"report.pdf": files.Hash([]byte(pdf)), "spree.txt": files.Hash([]byte(text))}
	for _, d := range s.Witness.Documents {
		assert.That(t, hashes[d.Name] == d.Hash, "%s has the hash %s", d.Name, d.Hash)
	}
	assert.That(t, len(s.Witness.Documents) == 2 && s.Witness.Kind == record.WitnessDocuments,
		"the witness is %+v", s.Witness)
	cited := map[string]int{}
	for _, pair := range s.Pairs {
		for _, c := range pair.Citations {
			cited[c.Document] = c.Page
		}
	}
	assert.That(t, cited["report.pdf"] == 3 && cited["spree.txt"] == 1, "cited are %v", cited)
	page := string(h.get(question{path: at + "/export?format=html"}, nil).body)
	var r record.Report
	h.get(verifies("?documents=reports", "text/html", page), &r)
	assert.That(t, r.OK && outcomes(r)[record.CheckDocuments] == record.Holds, "with the files: %+v", r)
	assert.NoError(t, os.WriteFile(filepath.Join(reports, "spree.txt"), []byte("It stays open."), 0o600))
	h.get(verifies("?documents=reports", "text/html", page), &r)
	assert.That(t, !r.OK, "with a file that was changed: %+v", r)
	a := h.ask(question{path: at, token: evesToken})
	assert.That(t, a.status == http.StatusNotFound, "another user is told %d", a.status)
}
