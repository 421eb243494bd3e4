package config

import (
	"net/url"
	"strings"
)

// The search engines, as Web.Engine.
const (
	SearXNG = "searxng"
	Brave   = "brave"
	Tavily  = "tavily"
)

// The usual variables of their keys.
const (
	braveKeyEnv  = "BRAVE_API_KEY"
	tavilyKeyEnv = "TAVILY_API_KEY"
)

// webSwitch is the setting that a word in the place of the section web means.
const webSwitch = "web.access"

// Web says where to search the web.
type Web struct {
	Off bool `name:"access" env:"SIBYL_WEB" as:"switch"` // there is no web: neither searches nor pages
	// hosts of which, with all below them, pages may be opened; nil: all
	Allow []string `name:"allow" as:"host" like:"[example.org, docs.example.com]"`
	// hosts of which none may be, whatever Allow says
	Deny []string `name:"deny" as:"host" like:"[example.org, docs.example.com]"`
	// the one that is set, else the first that is set up; "" for none
	Engine string `name:"engine" enum:"searxng,brave,tavily"`
	// address of a SearXNG server, without credentials; "" for none
	SearXNG  string `name:"searxng" env:"SIBYL_SEARXNG_URL" as:"web server"`
	User     string // for a server that asks for them; from the environment only
	Password Secret
	Brave    KeySource `name:"brave"`
	Tavily   KeySource `name:"tavily"`
}

// finishSearch reads user and password of the search server.
func (s source) finishSearch(w *Web) {
	if u, err := url.Parse(strings.TrimSpace(s.places.get("SIBYL_SEARXNG_URL"))); err == nil && w.SearXNG != "" {
		password, _ := u.User.Password()
		w.User, w.Password = u.User.Username(), NewSecret(password)
	}
}

// Address is the whole address of the search server, with user and password where there are any: for the connection,
// not for showing.
func (w Web) Address() string {
	u, err := url.Parse(w.SearXNG)
	if err != nil || w.User == "" && w.Password.Reveal() == "" {
		return w.SearXNG
	}
	u.User = url.UserPassword(w.User, w.Password.Reveal())
	return u.String()
}

// Missing says what would set the engine up, or any where none is chosen; "" if it is set up.
func (w Web) Missing() string {
	const searxng = "set web.searxng or SIBYL_SEARXNG_URL to a SearXNG server with JSON enabled"
	if w.Off {
		return "web access is off: set web.access or SIBYL_WEB to on"
	}
	switch w.Engine {
	case "":
		return searxng + ", or store a key of Brave or Tavily with ‘sibyl config set-key brave’ or ‘… tavily’"
	case SearXNG:
		if w.SearXNG == "" {
			return searxng
		}
	default:
		if source := w.keyOf(w.Engine); !source.isPresent() {
			return source.whatIsMissing(w.Engine)
		}
	}
	return ""
}

// keyOf says where the key of an engine comes from.
func (w Web) keyOf(engine string) KeySource {
	switch engine {
	case Brave:
		return w.Brave
	case Tavily:
		return w.Tavily
	}
	return KeySource{}
}

// engineSetUp returns the first engine that is set up, or "". A server of one's own comes first.
func (w Web) engineSetUp() string {
	for _, engine := range []string{SearXNG, Brave, Tavily} {
		if w.Engine = engine; w.Missing() == "" {
			return engine
		}
	}
	return ""
}
