package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/web"
)

// Paths that more than one place names.
const (
	apiPath    = "/api/"
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// pagePolicy lets the page use its own files and this server, and nothing else. HTML is written by what Svelte makes
// of templates, and by the one place that shows what the server made of Markdown; sibyl-worker names the one script
// that shows the page while the server is away.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; " +
	"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; " +
	"trusted-types svelte-trusted-html sibyl-markdown sibyl-worker"

// SignInAddress is the address that signs a browser in, once. origin is the origin of this server, once the secret of a
// sign-in token. The secret is in the fragment, which browsers send to nobody.
func SignInAddress(origin, once string) string { return origin + "/#" + once }

// plainRoutes registers the routes that are no part of the API: health, readiness, metrics, the description, the page.
func (s *Server) plainRoutes() error {
	s.mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) {
		writeBody(w, "text/plain; charset=utf-8", []byte("ok\n"))
	})
	s.mux.HandleFunc("GET "+readyPath, s.answerReady)
	if s.config.Metrics != nil {
		s.mux.HandleFunc("GET /metrics", s.serveMetrics)
	}
	s.mux.HandleFunc("GET /openapi.json", s.serveDescription("application/openapi+json", s.description))
	s.mux.HandleFunc("GET /openapi.yaml", s.serveDescription("application/openapi+yaml", s.descriptionYAML))
	return s.pageRoutes()
}

func (s *Server) serveDescription(kind string, description func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := description()
		if err != nil {
			s.config.Log.LogAttrs(r.Context(), slog.LevelError, "the OpenAPI description can't be written",
				slog.String("request_id", infoOf(r.Context()).id), slog.String("error", err.Error()))
			refuse(w, problemOf(nil))
			return
		}
		writeBody(w, kind, text)
	}
}

// pageRoutes registers a route for each file of the page.
func (s *Server) pageRoutes() error {
	files, err := fs.Sub(web.Dist, "dist")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := newPageFile(name, text)
		if err != nil {
			return err
		}
		route := "/" + name
		if name == "index.html" {
			route = "/{$}"
		}
		s.mux.Handle("GET "+route, file)
		return nil
	})
}

// pageFile is a file of the page. A browser keeps it for good if its name holds its hash; otherwise it asks each time
// whether the file is still the same.
type pageFile struct {
	kind, etag, cacheControl string
	text                     []byte
	gzipped                  func() []byte // made at the first call
}

// hashedFiles is the folder of the files whose names hold their hashes.
const hashedFiles = "assets/"

func newPageFile(name string, text []byte) (*pageFile, error) {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".svg":  "image/svg+xml",
		".png":  "image/png",

		".webmanifest": "application/manifest+json",
	}
	kind, known := kinds[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("the page has a file of no known kind: %s", name)
	}
	kept := "no-cache"
	if strings.HasPrefix(name, hashedFiles) {
		kept = "public, max-age=31536000, immutable"
	}
	gzipped := sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // which is a level
		_, _ = w.Write(text)                                       // into memory
		_ = w.Close()
		return packed.Bytes()
	})
	sum := sha256.Sum256(text)
	return &pageFile{kind: kind, etag: `"` + hex.EncodeToString(sum[:12]) + `"`, cacheControl: kept, text: text,
		gzipped: gzipped}, nil
}

// ServeHTTP implements http.Handler.
func (f *pageFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", f.cacheControl)
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if !slices.ContainsFunc(strings.Split(r.Header.Get("Accept-Encoding"), ","), func(one string) bool {
		return strings.TrimSpace(one) == "gzip"
	}) {
		writeBody(w, f.kind, f.text)
		return
	}
	h.Set("Content-Encoding", "gzip")
	writeBody(w, f.kind, f.gzipped())
}

func writeBody(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // a client that does not wait gets none
}

// readyTime bounds the check whether this process is ready.
const readyTime = 2 * time.Second

func (s *Server) answerReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := s.config.Ready(ctx); err != nil {
		s.config.Log.LogAttrs(ctx, slog.LevelWarn, "not ready", slog.String("error", err.Error()))
		refuse(w, newProblem(http.StatusServiceUnavailable, "not_ready", "This server can't take requests now.",
			"Its log says why.").after(time.Second))
		return
	}
	writeBody(w, "text/plain; charset=utf-8", []byte("ok\n"))
}

// serveMetrics shows the metrics to users. Programs on this machine need a token too: what a proxy passes on can look
// just as what they send.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if p := s.identify(infoOf(r.Context()), r); p != nil {
		refuse(w, p)
		return
	}
	s.config.Metrics.ServeHTTP(w, r)
}
