package agent

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sibyl/internal/tool"
)

// Integrity says whose words a text is made of.
type Integrity string

// Whose words, the most trusted first: those of the person, those of files that are theirs, and those of strangers.
const (
	Person   Integrity = ""
	Own      Integrity = "own"
	Stranger Integrity = "stranger"
)

// rank orders them; an unknown value is least trusted.
func (i Integrity) rank() int {
	switch i {
	case Person, "person":
		return 2
	case Own:
		return 1
	}
	return 0
}

// isAtLeast says whether i is as trusted as o, or more.
func (i Integrity) isAtLeast(o Integrity) bool { return i.rank() >= o.rank() }

func (i Integrity) String() string { return cmp.Or(string(i), "person") }

// Labels are the integrity and confidentiality of a text. A text made of two has the join of their labels. The user's
// own words are Public, since they may go where the user sends them.
type Labels string

// Public is the zero value.
const Public Labels = ""

// private is the suffix of labels of private texts.
const private = " private"

// LabelledAs makes labels.
func LabelledAs(i Integrity, isPrivate bool) Labels {
	if isPrivate {
		return Labels(i + private)
	}
	return Labels(i)
}

func (l Labels) Integrity() Integrity { return Integrity(strings.TrimSuffix(string(l), private)) }

// IsPrivate says whether only the owner may see the text.
func (l Labels) IsPrivate() bool { return strings.HasSuffix(string(l), private) }

// Join are the labels of a text made of two: the less trusted integrity, and private if either is.
func (l Labels) Join(o Labels) Labels {
	if l == o {
		return l
	}
	i := l.Integrity()
	if of := o.Integrity(); !of.isAtLeast(i) {
		i = of
	}
	return LabelledAs(i, l.IsPrivate() || o.IsPrivate())
}

func (l Labels) String() string {
	if l.IsPrivate() {
		return l.Integrity().String() + ", private"
	}
	return l.Integrity().String() + ", public"
}

// labelsOf are the labels of what a tool returns: only the web is public, and foreign texts are a stranger's.
func labelsOf(s tool.Source, foreign bool) Labels {
	i := Own
	if foreign {
		i = Stranger
	}
	return LabelledAs(i, s != tool.Web)
}

// maxAddresses bounds how many addresses a run knows. A further one is unknown.
const maxAddresses = 2000

// LearnAddresses adds digests of addresses, made by Address.
func (l *Ledger) LearnAddresses(addresses ...string) {
	for _, a := range addresses {
		if a != "" && len(l.Addresses) < maxAddresses && !slices.Contains(l.Addresses, a) {
			l.Addresses = append(l.Addresses[:len(l.Addresses):len(l.Addresses)], a)
		}
	}
}

// NewestAddresses are the addresses that were learned last.
func (l *Ledger) NewestAddresses(most int) []string {
	return l.Addresses[max(0, len(l.Addresses)-most):]
}

// Address is the digest of an address: of its host in lower case with the port, its path and its query. "" if the text
// is no address, or has a user.
func Address(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return Digest(strings.ToLower(u.Host), path, "?", u.RawQuery)
}

var writtenAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?://|www\.)[^\s<>"'“”‘’«»` + "`" +
		`]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?(?:[/?#][^\s<>"'“”‘’«»` + "`" + `]*)?`)
})

// AddressesIn are the digests of the addresses in a text. Punctuation at the end may belong to the address or to the
// sentence, so there is a digest for either.
func AddressesIn(text string) []string {
	var all []string
	for _, a := range writtenAddress().FindAllString(text, maxAddresses/2) {
		a, _, _ = strings.Cut(a, "](") // a link of Markdown that shows its address
		for {
			all = append(all, Address(a))
			last, size := utf8.DecodeLastRuneInString(a)
			if a == "" || !strings.ContainsRune(".,;:!?)]}*_|…", last) {
				break
			}
			a = a[:len(a)-size]
		}
	}
	return all
}

// sentText is the argument Out.Arg of a call, which leaves the machine; false if it is no text.
func sentText(o tool.Out, arguments string) (string, bool) {
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return "", false
	}
	text, ok := args[o.Arg].(string)
	return text, ok
}
