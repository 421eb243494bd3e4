package api_test

import (
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/oracle"
)

const (
	pdfType  = "application/pdf"
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

func document(query, kind string, body any) question {
	return question{method: "POST", path: "/api/documents" + query, body: body, header: map[string]string{"Content-Type": kind}}
}

func TestDocumentIsReadToBeAskedAbout(t *testing.T) {
	h := newHouse(t).open()
	pdf := string(documenttest.PDF(true, []string{"Report"}, nil, []string{"The bearing was replaced."}))
	docx := string(documenttest.DOCX(t, documenttest.Para("A memo."), nil))
	kind, body := form(t, [3]string{"file", "report.pdf", pdf})
	pages := "--- report.pdf p. 1, 1 line, " + files.Hash([]byte(pdf)) + " ---\nReport\n--- report.pdf p. 3, 1 line ---\nThe bearing was replaced.\n"
	memo := "1 line, " + files.Hash([]byte(docx)) + " ---\nA memo.\n"
	for about, c := range map[string]struct {
		question
		parts int
		want  string
	}{
		"a PDF":            {document("?name=report.pdf", pdfType, pdf), 2, pages},
		"a PDF in a form":  {document("", kind, body), 2, pages},
		"a PDF as bytes":   {document("?name=report.pdf", "application/octet-stream", pdf), 2, pages},
		"a DOCX":           {document("?name=memo.docx", docxType, docx), 1, "--- memo.docx, " + memo},
		"without a name":   {document("", docxType, docx), 1, "--- document.docx, " + memo},
		"a text":           {document("?name=a.txt", "text/plain", "one\ntwo\n"), 1, "--- a.txt, 2 lines, " + files.Hash([]byte("one\ntwo\n")) + " ---\none\ntwo\n"},
		"a text by itself": {document("?name=build.log", "application/octet-stream", "it failed"), 1, "--- build.log, 1 line, " + files.Hash([]byte("it failed")) + " ---\nit failed\n"},
	} {
		var got api.DocumentText
		if h.get(c.question, &got); got.Parts != c.parts || got.Material != c.want {
			t.Errorf("%s: %+v", about, got)
		}
	}
}

func TestPictureIsReadToBeShown(t *testing.T) {
	h := newHouse(t).open()
	const picture = "\x89PNG\r\n\x1a\n\x00"
	kind, body := form(t, [3]string{"file", "car.png", picture})
	want := ", 1 line, " + files.Hash([]byte(picture)) + ", image/png ---\niVBORw0KGgoA\n"
	for about, c := range map[string]struct {
		question
		want string
	}{
		"as a picture":   {document("?name=car.png", "image/png", picture), "--- car.png" + want},
		"in a form":      {document("", kind, body), "--- car.png" + want},
		"as bytes":       {document("?name=car.png", "application/octet-stream", picture), "--- car.png" + want},
		"without a name": {document("", "image/png", picture), "--- picture" + want},
	} {
		var got api.DocumentText
		if h.get(c.question, &got); got.Parts != 1 || got.Picture != "image/png" || got.Material != c.want {
			t.Errorf("%s: %+v", about, got)
		}
	}
	large := picture + strings.Repeat("x", oracle.MaxPicture)
	h.refused("too large", document("?name=car.png", "image/png", large), 413, "document_too_large")
}

func TestDocumentThatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	h := newHouse(t).open()
	docx := documenttest.DOCX(t, documenttest.Para("A memo."), nil)
	for about, c := range map[string]struct {
		question
		status int
		kind   string
	}{
		"a password":     {document("?name=hunter2.pdf", pdfType, string(documenttest.Locked())), 400, "document_encrypted"},
		"a scan":         {document("?name=hunter2.pdf", pdfType, string(documenttest.PDF(true, nil))), 400, "document_scan"},
		"cut off":        {document("?name=hunter2.docx", docxType, string(docx[:len(docx)-30])), 400, "document_damaged"},
		"nothing":        {document("?name=hunter2.pdf", pdfType, ""), 400, "document_empty"},
		"a picture":      {document("?name=hunter2.png", "application/octet-stream", "\x89PNG\x00"), 415, "document_unsupported"},
		"a type of none": {document("?name=hunter2.png", "image/png", "x"), 415, "no_document"},
		"too much text":  {document("?name=hunter2.txt", "text/plain", strings.Repeat("x", oracle.MaxMaterial+1)), 413, "document_too_large"},
		"half a form":    {document("", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file; filename=hunter2.pdf\r\n\r\nhalf"), 400, "broken_body"},
	} {
		if a := h.refused(about, c.question, c.status, c.kind); strings.Contains(string(a.body), "hunter2") {
			t.Errorf("%s: the answer repeats what was sent: %s", about, a.body)
		}
	}
	h.refused("a reader's token", question{method: "POST", path: "/api/documents", token: adasReader, body: "x", header: map[string]string{"Content-Type": "text/plain"}}, 403, "scope")
	if log := h.log.text(); strings.Contains(log, "hunter2") {
		t.Errorf("the log repeats what was sent:\n%s", log)
	}
}

func TestDocumentsBecomeEntriesOfASession(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("")
	pdf := string(documenttest.PDF(true, []string{"Page one."}, []string{"Page two."}))
	var added api.CouncilAdded
	h.get(upload(s.ID, "?name=report.pdf", pdfType, pdf), &added)
	if added.Entry.Status != session.Success || added.Entry.Original != "report.pdf" {
		t.Errorf("added: %+v", added)
	}
	var said api.CouncilTranscript
	if h.get(question{path: councils + "/" + s.ID + "/entries/1/transcript"}, &said); said.Text != "Page one.\n\nPage two." {
		t.Errorf("it holds %q", said.Text)
	}
	if h.get(upload(s.ID, "?name=again.pdf", pdfType, pdf), &added); added.Same != 1 {
		t.Errorf("the same again: %+v", added)
	}
	h.refused("a password", upload(s.ID, "?name=report.pdf", pdfType, string(documenttest.Locked())), 400, "invalid_request")
}
