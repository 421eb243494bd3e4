package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sibyl/internal/server/user"
	"sibyl/internal/service"
)

// Me describes the requesting user.
type Me struct {
	User      string     `json:"user"`
	Scope     user.Scope `json:"scope" enum:"read,write,operate" doc:"Write includes read, and operate both."`
	ExpiresAt time.Time  `json:"expires_at" doc:"When the token or cookie ends."`
	Folders   []string   `json:"folders" doc:"The names of the folders that the options of an assistant may name, or a folder in one of them: “notes/2024”."`
	Build     string     `json:"build" doc:"Of the server."`
	Dictates  bool       `json:"dictates,omitempty" doc:"The server has a transcriber: POST /api/dictation hears recordings."`
	HeardAt   string     `json:"heard_at,omitempty" doc:"The host that recordings are sent to when they are transcribed or dictated. Left out: they stay on the server's machine."`
	Currency  string     `json:"currency,omitempty" doc:"In which costs are told. Left out: the server knows no prices, and tells none."`
}

// Assistant is an assistant that can be asked, or a companion of one.
type Assistant struct {
	Name      string          `json:"name"`
	About     string          `json:"about"`
	Companion bool            `json:"companion" doc:"Its runs go along with those of another; they are not begun by a request."`
	Options   json.RawMessage `json:"options,omitempty" doc:"The JSON Schema of its options."`
}

// Assistants is a list of assistants.
type Assistants struct {
	Assistants []Assistant `json:"assistants"`
}

// SignIn is the body of a request that signs a browser in.
type SignIn struct {
	Token string `json:"token" minLength:"1" maxLength:"200" doc:"The one-time token of the address that was given out."`
}

type noInput struct{}

type withBody[T any] struct{ Body T }

func (s *Server) accountRoutes() {
	registerForm(s, route{id: "getMe", at: "GET /api/me", tag: "account", summary: "Who asks, and what they may do"},
		func(ctx context.Context, _ *noInput) (Me, error) { return s.describeUser(infoOf(ctx).token), nil })
	registerForm(s, route{id: "listAssistants", at: "GET /api/assistants", tag: "account",
		summary: "The assistants there are"}, s.listAssistants)
	registerForm(s, route{id: "listFolders", at: "GET /api/folders", tag: "account",
		summary: "The folders that the options of an assistant may name, with those in them"}, s.listFolders)
	registerForm(s, route{id: "listPresets", at: "GET /api/presets", tag: "account",
		summary: "The presets that a question may name"}, s.listPresets)
	registerForm(s, route{id: "listModels", at: "GET /api/models", tag: "account",
		summary: "The models that can be asked, with what they cost"},
		func(ctx context.Context, _ *noInput) (service.Models, error) {
			return s.config.Service.Models(ctx), nil
		})
	register(s, route{id: "signIn", at: "POST /api/sign-in", tag: "account",
		summary: "Sign a browser in, with a one-time token", open: true}, s.signIn)
	register(s, route{id: "signOut", at: "POST /api/sign-out", tag: "account", summary: "Sign a browser out",
		needs: user.Read}, s.signOut)
}

func (s *Server) describeUser(t user.Token) Me {
	folders := slices.Sorted(maps.Keys(s.config.Folders(t.User)))
	me := Me{User: t.User, Scope: t.Scope, ExpiresAt: t.ExpiresAt, Build: s.config.Build,
		Currency: s.config.Service.Currency(), Folders: folders}
	if c := s.config.Council; c != nil && c.Missing() == "" {
		me.Dictates, me.HeardAt = true, c.HeardAt()
	}
	return me
}

func (s *Server) listAssistants(context.Context, *noInput) (list Assistants, err error) {
	for _, a := range s.config.Service.Assistants() {
		one := Assistant{Name: a.Name, About: a.About, Companion: a.Companion}
		if a.Options != nil {
			one.Options = a.Options.JSON()
		}
		list.Assistants = append(list.Assistants, one)
	}
	return list, nil
}

// withCookie is an answer that sets a cookie.
type withCookie[T any] struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      T
}

func (s *Server) signIn(ctx context.Context, in *withBody[SignIn]) (*withCookie[Me], error) {
	x := infoOf(ctx)
	t, secret, err := s.config.Users.SignIn(ctx, in.Body.Token)
	if errors.Is(err, user.ErrUnknown) {
		return nil, s.wrongToken(x)
	}
	if err != nil {
		return nil, err
	}
	x.token = t
	cookie := s.newCookie(x, secret, t.ExpiresAt.Sub(s.config.Now()))
	return &withCookie[Me]{SetCookie: cookie, Body: s.describeUser(t)}, nil
}

type onlyCookie struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *Server) signOut(ctx context.Context, _ *noInput) (*onlyCookie, error) {
	x := infoOf(ctx)
	if x.secret == "" {
		return nil, newProblem(http.StatusBadRequest, "no_cookie", "Only a browser that signed in can sign out.",
			"‘sibyl user’ ends the tokens of programs.")
	}
	// ErrUnknown: somebody else has just ended it
	if err := s.config.Users.SignOut(ctx, x.secret); err != nil && !errors.Is(err, user.ErrUnknown) {
		return nil, err
	}
	return &onlyCookie{s.newCookie(x, "", -time.Second)}, nil
}

// newCookie is the cookie of a browser that signed in. No script can read it, and no page of another site sends it. It
// is for TLS alone if the request came over TLS, or may have come so to a proxy that does not say it.
func (s *Server) newCookie(x *requestInfo, secret string, lasts time.Duration) http.Cookie {
	secure := x.isSecure || s.hasTLS(x)
	return http.Cookie{Name: cookieName(x), Value: secret, Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true,
		Secure: secure, SameSite: http.SameSiteStrictMode}
}

// hasTLS says that the name by which a request came is one that is reached over TLS. By loopback it may have come
// through a proxy, from any of the names; browsers send loopback what is for TLS alone, too.
func (s *Server) hasTLS(x *requestInfo) bool {
	name, _ := splitHost(x.host, x.isSecure)
	names := slices.DeleteFunc(slices.Clone(s.origins), func(u *url.URL) bool { return !isNamed(u, name) })
	if len(names) == 0 {
		names = s.origins
	}
	return slices.ContainsFunc(names, func(u *url.URL) bool { return u.Scheme == "https" })
}
