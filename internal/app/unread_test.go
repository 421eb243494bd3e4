package app

import (
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/media/document/documenttest"
)

func TestDocumentsOfAnInquirySayWhatWasNotRead(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"mixed.pdf": documenttest.PDF(true, []string{"The bridge was built."}, nil, nil, []string{"It cost 400 euros."}),
		"lock.pdf":  documenttest.Locked(), "film.mp4": []byte("x"), "a.txt": []byte("A bridge."),
	} {
		assert.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	a := prepared(t, "")
	w, _, err := a.openWitness(t.Context(), inquiry.WitnessSpec{Kind: record.WitnessDocuments, Name: dir})
	assert.NoError(t, err)
	answer, err := w.Answer(t.Context(), "zebra okapi quagga", "en", nil)
	assert.That(t, err == nil && answer.NotFound &&
		answer.Text == "I found no passage on this. Not read: mixed.pdf pp. 2-3, lock.pdf.", "%q, %v", answer.Text, err)
}
