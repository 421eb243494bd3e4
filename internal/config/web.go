package config

import (
	"net/url"
	"strings"
)

// Search engines, as in Web.Engine.
const (
	SearXNG = "searxng"
	Brave   = "brave"
	Tavily  = "tavily"
)

// The default environment variables for their keys.
const (
	braveKeyEnv  = "BRAVE_API_KEY"
	tavilyKeyEnv = "TAVILY_API_KEY"
)

// webSwitch is the setting that ‘web: off’ or ‘web: on’ stands for.
const webSwitch = "web.access"

// Web has the settings for searching the web and opening pages.
type Web struct {
	Off bool `name:"access" env:"SIBYL_WEB" as:"switch"` // no searches and no pages
	// hosts whose pages may be opened, and those of their subdomains; nil: all
	Allow []string `name:"allow" as:"host" like:"[example.org, docs.example.com]"`
	// hosts whose pages may not be opened, whatever Allow says
	Deny []string `name:"deny" as:"host" like:"[example.org, docs.example.com]"`
	// the engine that is named, else the first that is set up; "" if none is
	Engine string `name:"engine" enum:"searxng,brave,tavily"`
	// URL of a SearXNG server, without credentials; "" for none
	SearXNG  string `name:"searxng" env:"SIBYL_SEARXNG_URL" as:"web server"`
	User     string // of the SearXNG server; like Password, only from SIBYL_SEARXNG_URL
	Password Secret
	Brave    KeySource `name:"brave"`
	Tavily   KeySource `name:"tavily"`
}

// finishSearch sets w.User and w.Password from SIBYL_SEARXNG_URL, if w.SearXNG is set.
func (s source) finishSearch(w *Web) {
	if u, err := url.Parse(strings.TrimSpace(s.places.get("SIBYL_SEARXNG_URL"))); err == nil && w.SearXNG != "" {
		password, _ := u.User.Password()
		w.User, w.Password = u.User.Username(), NewSecret(password)
	}
}

// Address returns the URL of the SearXNG server with user and password, if there are any. It must not be shown.
func (w Web) Address() string {
	u, err := url.Parse(w.SearXNG)
	if err != nil || w.User == "" && w.Password.Reveal() == "" {
		return w.SearXNG
	}
	u.User = url.UserPassword(w.User, w.Password.Reveal())
	return u.String()
}

// Missing says what to set so that the engine works, or any engine if none is chosen; "" if it works.
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

// keyOf returns the key source of an engine; an empty one for SearXNG.
func (w Web) keyOf(engine string) KeySource {
	switch engine {
	case Brave:
		return w.Brave
	case Tavily:
		return w.Tavily
	}
	return KeySource{}
}

// engineSetUp returns the first engine that is set up, SearXNG before Brave and Tavily; "" if none is.
func (w Web) engineSetUp() string {
	for _, engine := range []string{SearXNG, Brave, Tavily} {
		if w.Engine = engine; w.Missing() == "" {
			return engine
		}
	}
	return ""
}
