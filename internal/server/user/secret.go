package user

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Prefix is what secrets begin with, so that they are known wherever they turn up: internal/redact takes them out of
// texts by it.
const Prefix = "sibyl_"

const (
	secretBytes = 32 // random
	idBytes     = 10
	secretChars = (secretBytes*8 + 4) / 5 // in base 32
)

// Hash is the SHA-256 of a secret.
type Hash [sha256.Size]byte

// HashOf returns the hash under which a secret is kept.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// random returns so many random bytes as lower-case letters and digits.
func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}
