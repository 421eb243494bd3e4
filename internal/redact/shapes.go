package redact

import "strings"

// shape describes tokens of one kind: a prefix, and a body that is told from ordinary words by its length and by
// holding an unbroken run of letters and digits with a digit in it.
type shape struct {
	prefix string
	kind   kind
	body   func(byte) bool // the characters of the body
	least  int             // of the body, in bytes
	most   int             // 0: no bound; a longer run is something else
	run    int             // of letters and digits that the body must hold; 0: none
	keep   bool            // the prefix says what the token is for, and stays
}

type kind int

const (
	plainToken   kind = iota
	webToken          // JSON web token, RFC 7519: three parts with dots between
	accessKey         // of AWS, with the secret key that may follow it
	privateKey        // PEM, RFC 7468
	otherKey          // RFC 4716
	keyEnd            // of a PEM whose beginning was cut off
	puttyKey          // the lines of a .ppk
	encodedKey        // a PEM in base64
	netrc             // login … password …
	option            // --password …
	user              // -u user:password
	botToken          // of Telegram: its number stands before the prefix
	hostedToken       // of Mailchimp: the token stands before the prefix
	escapedTag        // the sign behind <password>, in JSON
	workspace         // of Terraform: half of the token stands before the prefix
	clientSecret      // of Azure: four characters stand before the prefix
	parted            // parts with dots or slashes between, the last of which is the secret
)

// tokens are prefixes whose bodies have the same form. What is known of a body is the least that the vendor says.
type tokens struct {
	prefixes    string // with blanks between
	body        func(byte) bool
	least, most int
	run         int
}

func vendorTokens() []tokens {
	return []tokens{
		{"AIza", isURLSafe, 35, 35, 0}, {"GOCSPX-", isURLSafe, 24, 0, 0}, {"ya29. 1//0", isBearer, 30, 0, 10}, // Google
		{"ghp_ gho_ ghu_ ghs_ ghr_", isAlnum, 30, 0, 0}, {"github_pat_", isURLSafe, 30, 0, 14}, // GitHub
		{"glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-", isURLSafe, 20, 0, 0}, // GitLab
		{"ATBB ATCTT3", isBearer, 24, 0, 8}, {"ATATT3", isBearer, 60, 0, 14}, // Bitbucket, Atlassian
		{"npm_", isAlnum, 36, 0, 14}, {"pypi-AgE pypi-AgN", isURLSafe, 50, 0, 14}, {"rubygems_", isHexDigit, 48, 48, 10}, // package registries
		{"cio", isAlnum, 32, 32, 20}, {"dckr_pat_ dckr_oat_", isURLSafe, 20, 0, 0}, {"oy2", isLowerAlnum, 43, 43, 10},
		{"CLOJARS_", isLowerAlnum, 60, 0, 10}, {"AKCp", isAlnum, 60, 0, 20},
		{"xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp-", isURLSafe, 20, 0, 10}, // Slack
		{"key-", isLowerHex, 32, 32, 0},                                             // Mailgun
		{"xkeysib- xsmtpsib-", isURLSafe, 60, 0, 20}, {"re_", isURLSafe, 24, 0, 20}, // Brevo, Resend
		{"sk- sk_live_ sk_test_ rk_live_ rk_test_", isURLSafe, 16, 0, 14}, {"whsec_", isKey, 24, 0, 14}, // OpenAI, Anthropic and others; Stripe
		{"sq0atp- sq0csp- sq0idp-", isURLSafe, 22, 0, 0}, {"EAAA", isURLSafe, 56, 60, 14}, // Square
		{"shpat_ shpca_ shppa_ shpss_", isHexDigit, 32, 0, 0},
		{"hf_ api_org_", isAlnum, 30, 0, 0}, {"gsk_ xai-", isAlnum, 40, 0, 0}, {"r8_", isAlnum, 36, 0, 14}, // providers of models
		{"fw_", isAlnum, 22, 0, 14}, {"sk_", isLowerHex, 48, 48, 14}, {"pa-", isURLSafe, 43, 43, 10}, {"BSA", isURLSafe, 28, 28, 10}, {"pcsk_", isURLSafe, 40, 0, 14},
		{"pplx- fw_ csk- nvapi- tvly- jina_ lsv2_pt_ lsv2_sk_ fc-", isURLSafe, 30, 0, 20},
		{"sibyl_", isAlnum, 40, 0, 0}, // what internal/user hands out
		{"AGE-SECRET-KEY-1", isUpperAlnum, 50, 0, 0},
		{"dop_v1_ doo_v1_ dor_v1_", isHexDigit, 60, 0, 0}, {"hvs. hvb. hvr.", isURLSafe, 24, 0, 20}, // clouds and their tools
		{"dapi", isLowerHex, 32, 32, 0}, {"dp.pt. dp.st. dp.ct. dp.sa.", isAlnum, 40, 0, 0}, {"pul-", isLowerHex, 40, 0, 0},
		{"squ_ sqp_ sqa_ bkua_ shippo_live_ shippo_test_", isLowerHex, 40, 0, 10}, {"pnu_ pnb_", isAlnum, 36, 0, 14}, {"aio_", isAlnum, 28, 28, 14}, // tools and services
		{"pat-na1- pat-eu1-", isURLSafe, 36, 36, 8}, {"pat", isBearer, 79, 79, 40}, {"secret_", isAlnum, 43, 43, 20}, {"AQVN", isURLSafe, 35, 44, 10},
		{"sl.", isURLSafe, 100, 0, 20}, {"EAA", isAlnum, 90, 0, 40}, {"AAAAAAAAAAAAAAAAAAAAA", isEscaped, 60, 0, 20}, {"fm2_ fm1r_ fm1a_", isBearer, 60, 0, 14},
		{"dt0c01. dt0s01.", isBearer, 80, 0, 20}, {"sk.eyJ", isBearer, 60, 0, 20}, {"FLWSECK- FLWSECK_TEST-", isURLSafe, 32, 0, 20}, {"A3-", isURLSafe, 33, 40, 5},
		{"duffel_live_ duffel_test_ tfp_ rdme_ sb_secret_", isURLSafe, 28, 0, 10},
		{"$1$ $apr1$", isCrypt, 24, 31, 8}, {"$2a$ $2b$ $2y$", isCrypt, 56, 56, 8}, {"$5$ $6$ $y$ $7$ $argon2id$ $argon2i$", isCrypt, 45, 0, 14}, // passwords as systems keep them
		{"glc_ glsa_ sbp_ sntrys_ sntryu_ pscale_tkn_ pscale_pw_ pscale_oauth_ nfp_ lin_api_ ntn_ tskey-auth- tskey-api- ops_ CCIPAT_ PMAK- NRAK- figd_ rnd_ HRKU- CFPAT-", isBearer, 24, 0, 10},
	}
}

func shapes() []shape {
	list := []shape{
		{prefix: "eyJ", kind: webToken},
		{prefix: "-----BEGIN ", kind: privateKey}, {prefix: "-----END ", kind: keyEnd}, {prefix: "---- BEGIN ", kind: otherKey},
		{prefix: "Private-Lines: ", kind: puttyKey}, {prefix: "LS0tLS1CRUdJTi", kind: encodedKey},
		{prefix: "login", kind: netrc}, {prefix: " -u ", kind: user, keep: true},
		{prefix: escapedMore, kind: escapedTag},
		{prefix: ":AA", kind: botToken}, {prefix: "-us", kind: hostedToken}, {prefix: "SG.", kind: parted},
		{prefix: "hooks.slack.com/", kind: parted}, {prefix: "discord.com/api/webhooks/", kind: parted}, {prefix: "discordapp.com/api/webhooks/", kind: parted},
	}
	list = append(list, shape{prefix: ".atlasv1.", kind: workspace, body: isURLSafe, least: 60, run: 20})
	for _, digit := range "0123456789" {
		list = append(list, shape{prefix: string(digit) + "Q~", kind: clientSecret, body: isAzure, least: 31, most: 34, run: 5})
	}
	for _, prefix := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		list = append(list, shape{prefix: prefix, kind: accessKey, body: isUpperAlnum, least: 16, most: 16, run: 5})
	}
	for _, prefix := range []string{"--p", "--t", "--s", "--a", "--u", "--k", "--c", "--d", "--r"} {
		list = append(list, shape{prefix: prefix, kind: option})
	}
	for _, prefix := range []string{"Bearer ", "bearer ", "BEARER "} { // RFC 6750
		list = append(list, shape{prefix: prefix, body: isBearer, least: 20, run: 8, keep: true})
	}
	for _, digit := range "0123456789abcdef" { // Twilio; a needle has three bytes
		list = append(list, shape{prefix: "SK" + string(digit), body: isLowerHex, least: 31, most: 31})
	}
	for _, v := range vendorTokens() {
		for prefix := range strings.FieldsSeq(v.prefixes) {
			list = append(list, shape{prefix: prefix, body: v.body, least: v.least, most: v.most, run: v.run})
		}
	}
	return list
}

// extent returns where a secret of this shape stands whose prefix begins at i, or -1. It begins at from at the earliest.
func extent[T text](s *shape, t T, from, i int) (start, end int) {
	switch s.kind {
	case option:
		return optionSecret(t, i)
	case user:
		return userSecret(t, i+len(s.prefix)-1)
	case escapedTag:
		return taggedSecret(t, i)
	case keyEnd:
		return privateKeyStart(t, from, i)
	case botToken:
		return botTokenAt(t, from, i)
	case hostedToken:
		return hostedTokenAt(t, from, i)
	case workspace:
		return withBefore(s, t, from, i, 14, isAlnum)
	case clientSecret:
		return withBefore(s, t, from, i, 3, isAzure)
	}
	if !beginsWord(t, i) {
		return -1, -1
	}
	switch body := i + len(s.prefix); s.kind {
	case webToken:
		end = webTokenEnd(t, i)
	case accessKey:
		end = accessKeyEnd(s, t, body)
	case privateKey, otherKey:
		end = privateKeyEnd(t, i, len(s.prefix))
	case encodedKey:
		end = encodedKeyEnd(t, i)
	case puttyKey:
		return puttyKeyEnd(t, body)
	case netrc:
		return netrcSecret(t, i)
	case parted:
		return partedSecret(t, i, body)
	default:
		end = tokenEnd(s, t, body)
	}
	if end < 0 {
		return -1, -1
	}
	if s.keep {
		return i + len(s.prefix), end
	}
	return i, end
}

func tokenEnd[T text](s *shape, t T, body int) int {
	const enough = 256 // bytes within which a token has its run
	end, run, longestRun, digit := body, 0, 0, false
	for ; end < len(t); end++ {
		if end-body > enough && longestRun < s.run || s.most > 0 && end-body > s.most {
			return -1
		}
		switch c := t[end]; {
		case isAlnum(c) && s.body(c):
			run++
			digit = digit || isDigit(c)
			if digit {
				longestRun = max(longestRun, run)
			}
			continue
		case s.body(c), c == '\\' && s.body('/') && end+1 < len(t) && t[end+1] == '/': // some JSON writers escape slashes
			run, digit = 0, false
			continue
		}
		break
	}
	continues := s.most > 0 && (end-body > s.most || end < len(t) && isAlnum(t[end]))
	if end-body < s.least || continues || longestRun < s.run {
		return -1
	}
	return end
}

func webTokenEnd[T text](t T, i int) int {
	const leastPart = 10
	end := i
	for part := range 3 {
		if part > 0 {
			if end >= len(t) || t[end] != '.' {
				return -1
			}
			end++
		}
		from := end
		for end < len(t) && isURLSafe(t[end]) {
			end++
		}
		if end-from < leastPart {
			return -1
		}
	}
	return end
}

// accessKeyEnd also takes the secret key that stands behind an access key of AWS, as in the file that one downloads.
func accessKeyEnd[T text](s *shape, t T, body int) int {
	const secretKey, between = 40, 4
	end := tokenEnd(s, t, body)
	if end < 0 {
		return -1
	}
	next := end
	for next < len(t) && next-end < between && (t[next] == ',' || t[next] == ':' || t[next] == ' ' || t[next] == '\t' || isQuote(t[next])) {
		next++
	}
	last := next
	for last < len(t) && last-next <= secretKey && isKey(t[last]) {
		last++
	}
	if next > end && last-next == secretKey && surprise(t[next:last]) >= manyBits*secretKey {
		return last
	}
	return end
}

// botTokenAt takes the number before and the text behind the sign at i.
func botTokenAt[T text](t T, from, i int) (start, end int) {
	const leastNumber, text = 8, 35
	start, end = i, i+1
	for start > from && isDigit(t[start-1]) {
		start--
	}
	for end < len(t) && end-i <= text+1 && isURLSafe(t[end]) {
		end++
	}
	if i-start < leastNumber || i-start > leastNumber+4 || end-i-1 != text {
		return -1, -1
	}
	return start, end
}

// hostedTokenAt takes the 32 digits before the dash at i, and the name of the host behind it.
func hostedTokenAt[T text](t T, from, i int) (start, end int) {
	const digits = 32
	start, end = i, i+len("-us")
	for start > from && i-start <= digits && isLowerHex(t[start-1]) {
		start--
	}
	for end < len(t) && isDigit(t[end]) {
		end++
	}
	if i-start != digits || end == i+len("-us") || !beginsWord(t, start) {
		return -1, -1
	}
	return start, end
}

// withBefore takes exactly so many characters before the prefix at i, and the body behind it.
func withBefore[T text](s *shape, t T, from, i, before int, body func(byte) bool) (start, end int) {
	start = i
	for start > from && i-start < before && body(t[start-1]) {
		start--
	}
	if end = tokenEnd(s, t, i+len(s.prefix)); i-start != before || end < 0 || !beginsWord(t, start) {
		return -1, -1
	}
	return start, end
}

// partedSecret takes what looks least like words of the parts of a token or an address: all behind the first of them.
func partedSecret[T text](t T, i, body int) (start, end int) {
	const leastLast, most = 20, 256
	end, last := body, body
	for ; end < len(t) && end-body < most; end++ {
		c := t[end]
		slashed := c == '\\' && end+1 < len(t) && t[end+1] == '/'
		if c == '/' || c == '.' {
			last = end + 1
		}
		if !isURLSafe(c) && c != '/' && c != '.' && !slashed {
			break
		}
	}
	if end > body && t[end-1] == '.' { // of a sentence
		end--
		for last = end; last > body && t[last-1] != '.' && t[last-1] != '/'; {
			last--
		}
	}
	if end-last < leastLast || surprise(t[last:end]) < enoughBits*float64(end-last) {
		return -1, -1
	}
	if t[body-1] == '/' {
		return body, end
	}
	return i, end
}

// endsWith says whether word stands right before end.
func endsWith[T text](t T, end int, word string) bool {
	return end >= len(word) && string(t[end-len(word):end]) == word
}

// beginsWord says whether what begins at i is not the rest of a longer word. The letter of an escape, as in \n or
// \u0022 or %3D, belongs to no word.
func beginsWord[T text](t T, i int) bool {
	if i == 0 || !isURLSafe(t[i-1]) {
		return true
	}
	return endsWith(t, i-1, `\`) || endsWith(t, i-4, `\u`) || endsWith(t, i-2, "%")
}

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isUpper(c byte) bool      { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool      { return 'a' <= c && c <= 'z' }
func isUpperAlnum(c byte) bool { return isDigit(c) || isUpper(c) }
func isLowerAlnum(c byte) bool { return isDigit(c) || isLower(c) }
func isAlnum(c byte) bool      { return isUpperAlnum(c) || isLower(c) }
func isHexDigit(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isLowerHex(c byte) bool   { return isDigit(c) || 'a' <= c && c <= 'f' }
func isAzure(c byte) bool      { return isURLSafe(c) || c == '.' || c == '~' }
func isEscaped(c byte) bool    { return isAlnum(c) || c == '%' }
func isCrypt(c byte) bool      { return isAlnum(c) || strings.IndexByte("./$=,+-_", c) >= 0 }
func isURLSafe(c byte) bool    { return isAlnum(c) || c == '-' || c == '_' }
func isBearer(c byte) bool     { return isURLSafe(c) || strings.IndexByte(".~+/=%", c) >= 0 }
