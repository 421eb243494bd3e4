package journal

import (
	"crypto/sha256"
	"encoding/hex"
)

// BlobHash names a content: "sha256:" and 64 hex digits.
func BlobHash(content []byte) string {
	sum := sha256.Sum256(content)
	return string(hex.AppendEncode(append(make([]byte, 0, 71), "sha256:"...), sum[:]))
}
