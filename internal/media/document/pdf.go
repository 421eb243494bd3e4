package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"sibyl/internal/files"
	"sibyl/internal/text"
)

const (
	maxMemory  = 512 << 20 // bytes that PDFium may use for a file
	memoryPage = 64 << 10
)

// startPDFium starts PDFium in WebAssembly, which ends with ctx: it sees no file, and has its own memory. It is
// compiled first, which takes seconds; the result is kept in cache, if that can be written.
func startPDFium(ctx context.Context, cache string) (pdfium.Pool, error) {
	ctx = experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), 2))
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory / memoryPage).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	start := func(config wazero.RuntimeConfig) (pdfium.Pool, error) {
		return webassembly.Init(webassembly.Config{Context: ctx, MaxTotal: 1, RuntimeConfig: config,
			FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard})
	}
	if cache != "" {
		if kept, err := wazero.NewCompilationCacheWithDir(cache); err == nil {
			if pool, err := start(config.WithCompilationCache(kept)); err == nil {
				return pool, nil
			}
		}
	}
	return start(config)
}

// acquirePDFium waits until PDFium is free, starts it if necessary, and returns a function that releases it. If ctx
// ends during the start, the next caller uses what was started.
func (r *Reader) acquirePDFium(ctx context.Context, name string, size int64) (func(), error) {
	select {
	case r.pdfiumSlot <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-r.pdfiumSlot }
	memory := int64(usualMemory)
	if r.pdfium == nil {
		memory = startMemory
	}
	if err := files.CheckMemory(name, size, memory); err != nil {
		release()
		return nil, openError(err)
	}
	if r.pdfium != nil {
		return release, nil
	}
	started := make(chan error, 1)
	go func() {
		var err error
		r.pdfium, err = startPDFium(context.WithoutCancel(ctx), r.cacheFolder)
		started <- err
	}()
	select {
	case err := <-started:
		if err != nil {
			release()
			return nil, fmt.Errorf("PDFs can't be read here: %w", err)
		}
		return release, nil
	case <-ctx.Done():
		go func() {
			<-started
			release()
		}()
		return nil, ctx.Err()
	}
}

// How much memory PDFium takes beside the content: while it is started and perhaps compiled, and afterwards.
const (
	startMemory = 330 << 20
	usualMemory = 64 << 20
)

// readPDF reads a PDF.
func (r *Reader) readPDF(ctx context.Context, d *Document, content []byte) error {
	release, err := r.acquirePDFium(ctx, d.Name, int64(len(content)))
	if err != nil {
		return err
	}
	defer release()
	timed, cancel := context.WithTimeout(ctx, MaxReading)
	defer cancel()
	texts, garbled, err := extractPDF(timed, r.pdfium, content)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case timed.Err() != nil:
		return refuse(TimedOut, "it could not be read within %v; split it", MaxReading)
	case err != nil:
		return err
	}
	d.Paged = true
	for i, page := range texts {
		d.addPage(i+1, page)
	}
	switch {
	case len(texts) == 0:
		return refuse(Empty, "it has no pages")
	case len(d.Pages) > 0:
		return nil
	case garbled:
		return refuse(Scan, "its fonts do not say which letters they show; print it to a new PDF, or have its text "+
			"recognised (OCR)")
	}
	return refuse(Scan, "it holds pictures and no text, on %s; have the text recognised (OCR), and give that",
		text.Count(len(texts), "page"))
}

// extractPDF returns the text of each page; "" if there is none, or none that can be read: then garbled is set. When
// ctx is done, PDFium is killed.
func extractPDF(ctx context.Context, pool pdfium.Pool, content []byte) (texts []string, garbled bool, err error) {
	in, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("PDFs can't be read here: %w", err)
	}
	end := sync.OnceFunc(func() { _ = in.Kill() }) // unlike Close it does not wait
	defer end()
	defer context.AfterFunc(ctx, end)()
	opened, err := in.OpenDocument(&requests.OpenDocument{File: &content})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return nil, false, refuse(Encrypted,
			"it is protected with a password, or in a way that can't be read; save it without protection")
	case err != nil:
		return nil, false, damagedPDF(err)
	}
	count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	switch {
	case err != nil:
		return nil, false, damagedPDF(err)
	case count.PageCount > MaxPages:
		return nil, false, refuse(TooLarge, "it has more than %d pages; split it", MaxPages)
	}
	total := 0
	for i := range count.PageCount {
		text, err := readPage(in, opened.Document, i)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if err != nil { // the others may be whole
			text = ""
		}
		if isGarbled(text) {
			text, garbled = "", true
		}
		texts = append(texts, text)
		if total += len(text); total > MaxText {
			return nil, false, refuse(TooLarge, "it holds more than %d MB of text; split it", MaxText>>20)
		}
	}
	return texts, garbled, nil
}

func damagedPDF(err error) error {
	return refuse(Damaged, "it is no whole PDF (%.200s); open it and save it anew", err)
}

// readPage returns the text of a page, counted from 0, with lines, paragraphs and cells as they are placed on it.
func readPage(in pdfium.Pdfium, doc references.FPDF_DOCUMENT, page int) (string, error) {
	loaded, err := in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: page})
	if err != nil {
		return "", err
	}
	// what is not closed ends with in
	defer func() { _, _ = in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	text, err := in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &loaded.Page}})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	s := sheet{in: in, page: text.TextPage}
	if err := s.readWords(); err != nil {
		return "", err
	}
	return s.text(), nil
}

// isGarbled says whether many characters of a text can't be read.
func isGarbled(text string) bool {
	good, bad := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r):
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			bad++
		default:
			good++
		}
	}
	return bad > 0 && 4*bad > good
}
