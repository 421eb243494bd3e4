package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Parts of regular expressions: a quote, also an escaped one; a gap between words, also an escaped line break or the
// end of a text in a list; a character of a value without quotes.
const (
	quoteSign = "\\\\*[\"'`]"
	gapSign   = `(?:[ \t\r\n]|\\+[nrt]|["',\\])+`
	valueSign = "(?:[^\\s\"'`\\\\]|" + escapeSign + ")"
	// One of & + / = that JSON has escaped.
	escapeSign = `\\+(?:u002[6bBfF]|u003[dD]|/)`
)

// place is where secrets occur without a name. Its pattern begins with the keyword: the first group is the secret, if
// check accepts it.
type place struct {
	keywords string
	pattern  string
	check    func(secret string) bool
}

func places() []place {
	always := func(string) bool { return true }
	hasDigit := func(s string) bool { return isToken(s) && strings.ContainsAny(s, "0123456789") }
	return []place{
		{"Bearer |bearer |BEARER ", `[A-Za-z]+ ((?:[\w.~+/=%-]|\\+/){20,})`, hasDigit},
		{"machine |default", `(?:machine` + gapSign + `\S+?|default)` + gapSign + `login` + gapSign + `\S+?` + gapSign +
			`password` + gapSign + `(` + valueSign + `{4,})`, isRealPassword},
		{":*:|:543|:643", `:(?:\d{4,5}|\*):[^:\s]+:[^:\s]+:(` + valueSign + `{8,})`, func(s string) bool {
			return isSecret(s, password, true, true)
		}},
		{" -u |--user |--proxy-user ", ` ?--?[a-z-]+ +` + quoteSign + `?[^\s:"'\\]+:(` + valueSign + `{6,})`,
			isRealPassword},
		{"hooks.slack.com", `hooks\.slack\.com\\*/((?:services|workflows|triggers)(?:\\*/[\w-]{8,}){2,4})`, isToken},
		{"A3-", `(A3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3})`, always}, // 1Password
		{"discord.com|discordapp.com", `discord(?:app)?\.com\\*/api\\*/webhooks\\*/(\d{15,}\\*/[\w-]{60,})`, always},
		{"://|:\\/", `:(?:\\*/){2}([^\s"'` + "`" + `\\/?#<>]*)@[\w\[/]`, nil},
	}
}

// finder is the finder of a place; it compiles the pattern on first use.
func (p place) finder() finder {
	pattern := compileLazily(`\A` + p.pattern)
	return func(t string, from, i int) (start, end int) {
		stop := min(len(t), i+maxToken)
		m := pattern().FindStringSubmatchIndex(t[i:stop])
		if m == nil {
			return -1, -1
		}
		start, end = i+m[2], i+m[3]
		if p.check == nil {
			return addressSecret(t, start, end)
		}
		if !p.check(t[start:end]) {
			return -1, -1
		}
		return start, extendToken(t, end, stop)
	}
}

// addressSecret is the secret in the part of an address before the @, from start to end: the password of user:password,
// or a token in place of a user.
func addressSecret(t string, start, end int) (int, int) {
	user, secret, both := strings.Cut(t[start:end], ":")
	switch {
	case !both && len(user) >= leastWeak && !isPlaceholder(user) && isRandom(user, true):
		return start, end
	case both && secret != user && isRealPassword(secret):
		return start + len(user) + 1, end
	}
	return -1, -1
}

var (
	maskOrVariable = regexp.MustCompile(`\A(?:[xX*.]*|.|string|[$:].*|%[^0-9a-fA-F].*|.*[{<(].*)\z`)
	letter         = regexp.MustCompile(`[A-Za-z]`)
)

// isRealPassword says whether a text at the place of a password is one, and not a variable, a mask or the word
// password.
func isRealPassword(password string) bool {
	return !maskOrVariable.MatchString(password) && !isPlaceholder(password) && kindOfName(password) == unnamed &&
		letter.MatchString(password)
}

// isPlaceholder says whether a text only represents a secret: a variable, a verb of a format, an address, a mask, or a
// number in hexadecimal digits.
func isPlaceholder(text string) bool {
	const longestNumber = 20
	holds := func(sign string) bool { return strings.Contains(text, sign) }
	ends := func(sign string) bool { return strings.HasSuffix(text, sign) }
	variable := len(text) > 1 && text[0] == '$' && (isUpper(text[1]) || text[1] == '_')
	number := len(text) <= longestNumber && strings.HasPrefix(strings.TrimPrefix(text, "-"), "0x")
	return text == "" || strings.IndexByte("<{[,", text[0]) >= 0 || variable || number ||
		slices.ContainsFunc([]string{"${", "$(", "{{", "%(", "%{", "**", "://", `:\/`}, holds) ||
		slices.ContainsFunc([]string{"%s", "%v", "%q", "%d", ".."}, ends)
}
