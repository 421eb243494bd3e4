package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"sibyl/internal/server/user"
	"sibyl/internal/service"
)

// Me is who asks.
type Me struct {
	User      string     `json:"user"`
	Scope     user.Scope `json:"scope" enum:"read,write,operate" doc:"Write includes read, and operate both."`
	ExpiresAt time.Time  `json:"expires_at" doc:"When the token or cookie ends."`
	Folders   []string   `json:"folders" doc:"The names of the folders that the options of an assistant may name, or a folder in one of them: “notes/2024”."`
	Build     string     `json:"build" doc:"Of the server."`
	Currency  string     `json:"currency,omitempty" doc:"In which costs are told. Left out: the server knows no prices, and tells none."`
}

// Assistant is one that can be asked, or that goes along with one.
type Assistant struct {
	Name      string          `json:"name"`
	About     string          `json:"about"`
	Companion bool            `json:"companion" doc:"Its runs go along with those of another; they are not begun by a request."`
	Options   json.RawMessage `json:"options,omitempty" doc:"The JSON Schema of its options."`
}

// Assistants is a list of them.
type Assistants struct {
	Assistants []Assistant `json:"assistants"`
}

// SignIn is what a browser signs in with.
type SignIn struct {
	Token string `json:"token" minLength:"1" maxLength:"200" doc:"The one-time token of the address that was given out."`
}

type none struct{}

type of[T any] struct{ Body T }

func (s *Server) accountRoutes() {
	answer(s, route{id: "getMe", at: "GET /api/me", tag: "account", summary: "Who asks, and what they may do"},
		func(ctx context.Context, _ *none) (Me, error) { return s.me(infoOf(ctx).token), nil })
	answer(s, route{id: "listAssistants", at: "GET /api/assistants", tag: "account",
		summary: "The assistants there are"}, s.assistants)
	answer(s, route{id: "listFolders", at: "GET /api/folders", tag: "account",
		summary: "The folders that the options of an assistant may name, with those in them"}, s.listFolders)
	answer(s, route{id: "listModels", at: "GET /api/models", tag: "account",
		summary: "The models that can be asked, with what they cost"},
		func(ctx context.Context, _ *none) (service.Models, error) { return s.config.Service.Models(ctx), nil })
	register(s, route{id: "signIn", at: "POST /api/sign-in", tag: "account",
		summary: "Sign a browser in, with a one-time token", open: true}, s.signIn)
	register(s, route{id: "signOut", at: "POST /api/sign-out", tag: "account", summary: "Sign a browser out",
		needs: user.Read}, s.signOut)
}

func (s *Server) me(t user.Token) Me {
	folders := slices.Sorted(maps.Keys(s.config.Folders(t.User)))
	return Me{User: t.User, Scope: t.Scope, ExpiresAt: t.ExpiresAt, Build: s.config.Build,
		Currency: s.config.Service.Currency(), Folders: folders}
}

func (s *Server) assistants(context.Context, *none) (list Assistants, err error) {
	for _, a := range s.config.Service.Assistants() {
		one := Assistant{Name: a.Name, About: a.About, Companion: a.Companion}
		if a.Options != nil {
			one.Options = a.Options.JSON
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

func (s *Server) signIn(ctx context.Context, in *of[SignIn]) (*withCookie[Me], error) {
	x := infoOf(ctx)
	t, secret, err := s.config.Users.SignIn(ctx, in.Body.Token)
	if errors.Is(err, user.ErrUnknown) {
		return nil, s.wrongToken(x)
	}
	if err != nil {
		return nil, err
	}
	x.token = t
	return &withCookie[Me]{SetCookie: cookie(x, secret, t.ExpiresAt.Sub(s.config.Now())), Body: s.me(t)}, nil
}

type setCookie struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *Server) signOut(ctx context.Context, _ *none) (*setCookie, error) {
	x := infoOf(ctx)
	if x.secret == "" {
		return nil, newProblem(http.StatusBadRequest, "no_cookie", "Only a browser that signed in can sign out.",
			"‘sibyl user’ ends the tokens of programs.")
	}
	// which somebody else has ended just now
	if err := s.config.Users.SignOut(ctx, x.secret); err != nil && !errors.Is(err, user.ErrUnknown) {
		return nil, err
	}
	return &setCookie{cookie(x, "", -time.Second)}, nil
}

// cookie is that of a browser that signed in. No script reads it, and no page of another site sends it.
func cookie(x *requestInfo, secret string, lasts time.Duration) http.Cookie {
	return http.Cookie{Name: cookieName(x), Value: secret, Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true,
		Secure: x.isSecure, SameSite: http.SameSiteStrictMode}
}
